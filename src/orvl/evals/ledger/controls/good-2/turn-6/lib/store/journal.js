'use strict';

const fs = require('node:fs');
const { open } = require('node:fs/promises');
const path = require('node:path');
const { StoreError } = require('../errors');

const NAME = 'journal.jsonl';

/** The append-only file. A promise of `append` is kept when the record is on the disk. */
class Journal {
  constructor(folder, handle, end) {
    this.handle = handle;
    this.end = end;
    this.folder = folder;
  }

  /** Opens it for writing, behind its last whole line: what follows was cut off by a power cut, and never answered. */
  static async open(folder) {
    const handle = await open(path.join(folder, NAME), 'a');
    const { size } = await handle.stat();
    const end = Journal.wholePart(folder).length;
    if (end < size) {
      await handle.truncate(end);
      await handle.sync();
      console.error(`tally: ${NAME}: dropped ${size - end} bytes of a line that was half written`);
    }
    return new Journal(folder, handle, end);
  }

  async append(record) {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    try {
      await this.handle.appendFile(line);
      await this.handle.sync();
      this.end += line.length;
    } catch (error) {
      await this.handle.truncate(this.end);
      throw error;
    }
  }

  close() {
    return this.handle.close();
  }

  static wholePart(folder) {
    const file = path.join(folder, NAME);
    if (!fs.existsSync(file)) return Buffer.alloc(0);
    const bytes = fs.readFileSync(file);
    return bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  }

  static read(folder) {
    const rows = Journal.wholePart(folder).toString('utf8').split('\n');
    return rows.slice(0, -1).map((row, index) => parsed(path.join(folder, NAME), index + 1, row));
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
