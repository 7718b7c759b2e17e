'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { StoreError } = require('../errors');

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
    return rows.slice(skip).map((row, index) => parsed(file, skip + index + 1, row));
  }
}

function parsed(file, line, row) {
  let record;
  try {
    record = JSON.parse(row);
  } catch (error) {
    throw new StoreError(3, `${file}:${line}: ${error.message}`);
  }
  if (record.n !== line) throw new StoreError(3, `${file}:${line}: number ${record.n} in the place of ${line}`);
  return record;
}

module.exports = { Journal, NAME };
