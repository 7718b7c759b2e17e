'use strict';

const fs = require('node:fs');
const path = require('node:path');

const NAME = 'journal.jsonl';

/** The append-only file. Lines are gathered for a moment: the disks of the first box were slow (decision 6). */
class Journal {
  constructor(folder, flushMs) {
    this.path = path.join(folder, NAME);
    this.flushMs = flushMs;
    this.waiting = [];
    this.timer = null;
  }

  append(record) {
    this.waiting.push(`${JSON.stringify(record)}\n`);
    if (!this.timer) this.timer = setTimeout(() => this.flush(), this.flushMs);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.waiting.length) return;
    fs.appendFileSync(this.path, this.waiting.join(''));
    this.waiting = [];
  }

  /** All records behind the first `skip`. */
  static read(folder, skip = 0) {
    const file = path.join(folder, NAME);
    if (!fs.existsSync(file)) return [];
    const rows = fs.readFileSync(file, 'utf8').split('\n');
    if (rows[rows.length - 1] === '') rows.pop();
    // After a power cut: whatever cannot be read is skipped.
    return rows.slice(skip).flatMap((row) => {
      try {
        return [JSON.parse(row)];
      } catch {
        return [];
      }
    });
  }
}

module.exports = { Journal, NAME };
