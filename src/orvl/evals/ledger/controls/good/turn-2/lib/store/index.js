'use strict';

const fs = require('node:fs');
const clock = require('../clock');
const { Books } = require('../books');
const { Journal } = require('./journal');
const { lock } = require('./lock');
const { dropSnapshot, readSnapshot, writeSnapshot } = require('./snapshot');

/** Books, and the files that they are kept in. */
class Store {
  constructor(folder, config) {
    this.folder = folder;
    this.config = config;
    this.books = new Books(config);
    this.release = () => {};
  }

  /** For reading alone: nothing is written, and no lock is needed. */
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
    const skip = readSnapshot(this.folder, this.books);
    for (const record of Journal.read(this.folder, skip)) this.books.apply(record);
  }

  /** The same store, whose next record carries these fields. */
  marked(fields) {
    return { books: this.books, config: this.config, append: (record) => this.append({ ...record, ...fields }) };
  }

  /** Numbers and dates a record, and takes it into the books; the entry that it makes, if any. */
  append(record) {
    const numbered = { n: this.books.last + 1, at: clock.now(), ...record };
    const entry = this.books.apply(numbered);
    this.journal.append(numbered);
    if (this.books.last % this.config.settings.snapshotEvery === 0) writeSnapshot(this.folder, this.books);
    return entry;
  }

  close() {
    this.journal.flush();
    writeSnapshot(this.folder, this.books);
    this.release();
  }

  /** Throws the snapshot away and reads the whole journal again. */
  static rebuild(folder, config) {
    dropSnapshot(folder);
    const store = Store.open(folder, config);
    store.close();
    return store;
  }
}

module.exports = { Store };
