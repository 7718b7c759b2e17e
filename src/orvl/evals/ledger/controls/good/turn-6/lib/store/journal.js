'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { StoreError } = require('../errors');

const NAME = 'journal.jsonl';
const LINE_END = 0x0a;

/** The append-only file. A record is on the disk before anybody hears that it was booked. */
class Journal {
  constructor(folder) {
    this.fd = fs.openSync(path.join(folder, NAME), 'a');
    this.size = fs.fstatSync(this.fd).size;
    syncFolder(folder);
  }

  append(record) {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    try {
      for (let at = 0; at < line.length; ) at += fs.writeSync(this.fd, line, at);
      fs.fsyncSync(this.fd);
    } catch (error) {
      fs.ftruncateSync(this.fd, this.size);
      throw error;
    }
    this.size += line.length;
  }

  close() {
    fs.closeSync(this.fd);
  }

  /** All records with numbers above `skip`, and the number of the last one. */
  static read(folder, skip = 0) {
    const file = path.join(folder, NAME);
    const bytes = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
    const rows = bytes.toString('utf8', 0, wholeLines(bytes)).split('\n').slice(0, -1);
    let next = 1;
    const records = rows.map((row, index) => {
      const record = parsed(file, index + 1, row, next);
      next += numbersOf(record);
      return record;
    });
    return { records: records.filter(({ n }) => n > skip), last: next - 1 };
  }

  /** Cuts off a line that was only half written when the power went: nobody was told that it is booked. */
  static recover(folder) {
    const file = path.join(folder, NAME);
    if (!fs.existsSync(file)) return;
    const bytes = fs.readFileSync(file);
    const whole = wholeLines(bytes);
    if (whole === bytes.length) return;
    console.error(`tally: ${file}: the last line was half written, ${bytes.length - whole} bytes are dropped`);
    fs.truncateSync(file, whole);
  }
}

/** How many bytes belong to lines that have their end. */
const wholeLines = (bytes) => bytes.lastIndexOf(LINE_END) + 1;

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

/** A new file is only there after a power cut if its folder was written, too. */
function syncFolder(folder) {
  const fd = fs.openSync(folder, 'r');
  fs.fsyncSync(fd);
  fs.closeSync(fd);
}

module.exports = { Journal, NAME };
