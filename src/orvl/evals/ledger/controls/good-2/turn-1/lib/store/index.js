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
    this.release = () => {};
  }

  static read(folder, config) {
    const store = new Store(folder, config);
    store.load();
    return store;
  }

  static open(folder, config) {
    fs.mkdirSync(folder, { recursive: true });
    const store = new Store(folder, config);
    store.release = lock(folder);
    try {
      store.load();
    } catch (error) {
      store.release();
      throw error;
    }
    store.journal = new Journal(folder, config.settings.flushMs);
    return store;
  }

  load() {
    for (const record of Journal.read(this.folder)) {
      this.books.take(record);
      this.last = record.n;
    }
  }

  /** Books what a plan makes of a body. */
  async book(plan, body, ...more) {
    const record = plan({ books: this.books, config: this.config, today: clock.today }, body, ...more);
    const numbered = { n: this.last + 1, at: clock.now(), ...record };
    this.last = numbered.n;
    const made = this.books.take(numbered);
    this.journal.append(numbered);
    return made;
  }

  close() {
    this.journal.flush();
    this.release();
  }
}

module.exports = { Store };
