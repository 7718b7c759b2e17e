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

  /** All records with numbers above `skip`. */
  static read(folder, skip = 0) {
    const file = path.join(folder, NAME);
    if (!fs.existsSync(file)) return [];
    const rows = fs.readFileSync(file, 'utf8').split('\n');
    if (rows[rows.length - 1] === '') rows.pop();
    let next = 1;
    const records = rows.map((row, index) => {
      const record = parsed(file, index + 1, row, next);
      next += numbersOf(record);
      return record;
    });
    return records.filter(({ n }) => n > skip);
  }
}

/** A correction with a new booking makes two entries. */
const numbersOf = (record) => (record.do === 'correction' && record.lines ? 2 : 1);

function parsed(file, line, row, number) {
  let record;
  try {
    record = JSON.parse(row);
  } catch (error) {
    throw new StoreError(3, `${file}:${line}: ${error.message}`);
  }
  if (record.n !== number) throw new StoreError(3, `${file}:${line}: number ${record.n} in the place of ${number}`);
  return record;
}

module.exports = { Journal, NAME };
