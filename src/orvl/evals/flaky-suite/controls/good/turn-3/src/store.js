'use strict';

// What must survive a restart: a journal, one JSON entry a line, in the order in which things happened. See
// docs/operations.md for what is in it.

const fs = require('node:fs/promises');
const path = require('node:path');
const { systemClock } = require('./clock');

const NAME = 'journal.jsonl';

class Store {
  constructor(folder, { lag = 200, compact = 500, clock = systemClock } = {}) {
    this.folder = folder;
    this.file = path.join(folder, NAME);
    this.lag = lag;
    this.compactAt = compact;
    this.clock = clock;
    this.count = 0;
    this.notes = [];
    this.live = () => null;
    this.last = Promise.resolve();
  }

  /** All entries of the journal. `live` gives those that are still worth keeping, when it has become long. */
  async open(live = () => null) {
    this.live = live;
    await fs.mkdir(this.folder, { recursive: true });
    const text = await this.#read();
    if (text && !text.endsWith('\n')) await fs.appendFile(this.file, '\n');
    const entries = parsed(text);
    this.count = entries.length;
    return entries;
  }

  async #read() {
    try {
      return await fs.readFile(this.file, 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT') return '';
      throw error;
    }
  }

  /** One after the other: what is written while the journal is made anew must not go to the old one. */
  #inTurn(job) {
    const done = this.last.then(job);
    this.last = done.catch(() => {});
    return done;
  }

  /** Writes an entry; it is in the file when this is done. `written` is called before anything else is written. */
  append(entry, written = () => {}) {
    return this.#inTurn(async () => {
      await this.#write([entry]);
      written();
      if (this.count >= this.compactAt) await this.#compact();
    });
  }

  async #write(entries) {
    await fs.appendFile(this.file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    this.count += entries.length;
  }

  /** Writes an entry a little later, together with others: states change often (2.4). */
  note(entry) {
    this.notes.push(entry);
    this.stopWaiting ??= this.clock.after(this.lag, () => this.flush());
  }

  /** Writes what was noted. */
  async flush() {
    this.stopWaiting?.();
    this.stopWaiting = null;
    const entries = this.notes.splice(0);
    if (entries.length) await this.#inTurn(() => this.#write(entries));
  }

  /** Writes the journal anew, without what is over. */
  async #compact() {
    const entries = this.live();
    if (!entries) return;
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    await fs.writeFile(`${this.file}.new`, text);
    await fs.rename(`${this.file}.new`, this.file);
    this.count = entries.length;
  }

  async close() {
    await this.flush();
  }
}

/** The entries of a text. A line that was being written when the power went is no entry; others may follow it. */
function parsed(text) {
  const entries = [];
  for (const line of text.split('\n')) {
    if (!line) continue;
    try {
      entries.push(JSON.parse(line));
    } catch {
      continue;
    }
  }
  return entries;
}

module.exports = { Store };
