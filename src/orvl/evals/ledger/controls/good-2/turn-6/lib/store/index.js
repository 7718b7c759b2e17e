'use strict';

const fs = require('node:fs');
const clock = require('../clock');
const { Books } = require('../books');
const { Journal } = require('./journal');
const { lock } = require('./lock');

/** Books, and the journal that they are kept in. */
class Store {
  constructor(folder, config) {
    this.folder = folder;
    this.config = config;
    this.books = new Books(config);
    this.last = 0;
    /** What was booked under which key: what was asked for, and what it made. */
    this.answers = new Map();
    this.release = () => {};
  }

  static read(folder, config) {
    const store = new Store(folder, config);
    store.load();
    return store;
  }

  static async open(folder, config) {
    fs.mkdirSync(folder, { recursive: true });
    const store = new Store(folder, config);
    store.release = lock(folder);
    try {
      store.load();
      store.journal = await Journal.open(folder);
    } catch (error) {
      store.release();
      throw error;
    }
    return store;
  }

  load() {
    for (const record of Journal.read(this.folder)) {
      this.take(record);
    }
  }

  take(record) {
    const made = this.books.take(record);
    if (record.request) this.answers.set(record.request.key, { asked: record.request.asked, made });
    this.last = record.n;
    return made;
  }

  /** Ids run ahead of the numbers of records once a correction has made two entries. */
  withId(record) {
    return record.lines && this.books.nextId > this.books.nextNumber ? { ...record, id: this.books.nextId } : record;
  }

  /** Books what a plan makes of a body, on the disk first. `marks` are kept with the record. One call must end before the next. */
  async book(plan, body, marks = {}, ...more) {
    const record = plan({ books: this.books, config: this.config, today: clock.today }, body, ...more);
    const numbered = { n: this.last + 1, at: clock.now(), ...this.withId(record), ...marks };
    await this.journal.append(numbered);
    return this.take(numbered);
  }

  async close() {
    await this.journal.close();
    this.release();
  }
}

module.exports = { Store };
