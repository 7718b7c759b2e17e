'use strict';

const fs = require('node:fs');
const clock = require('../clock');
const { Books } = require('../books');
const { Journal } = require('./journal');
const { lock } = require('./lock');
const { applySnapshot, dropSnapshot, readSnapshot, writeSnapshot } = require('./snapshot');

/** Books, and the files that they are kept in. */
class Store {
  constructor(folder, config) {
    this.folder = folder;
    this.config = config;
    this.books = new Books(config);
    this.release = () => {};
    this.sinceSnapshot = 0;
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
      Journal.recover(folder);
      store.load();
    } catch (error) {
      store.release();
      throw error;
    }
    store.journal = new Journal(folder);
    return store;
  }

  load() {
    const snapshot = readSnapshot(this.folder);
    const { records, last } = Journal.read(this.folder, snapshot ? snapshot.upto : 0);
    if (snapshot && snapshot.upto > last) return this.loadAll();
    if (snapshot) applySnapshot(snapshot, this.books);
    for (const record of records) this.books.apply(record);
  }

  /** Without the snapshot. */
  loadAll() {
    for (const record of Journal.read(this.folder).records) this.books.apply(record);
  }

  /** The same store, whose next record carries these fields. */
  marked(fields) {
    return { books: this.books, config: this.config, append: (record) => this.append({ ...record, ...fields }) };
  }

  /** Numbers and dates a record, and takes it into the books; the entry that it makes, if any. */
  append(record) {
    const numbered = { n: this.books.last + 1, at: clock.now(), ...record };
    this.journal.append(numbered);
    const entry = this.books.apply(numbered);
    this.sinceSnapshot += 1;
    if (this.sinceSnapshot >= this.config.settings.snapshotEvery) this.snapshot();
    return entry;
  }

  snapshot() {
    writeSnapshot(this.folder, this.books);
    this.sinceSnapshot = 0;
  }

  close() {
    this.snapshot();
    this.journal.close();
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
