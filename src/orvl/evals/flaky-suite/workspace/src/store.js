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
  }

  /** All entries of the journal. `live` gives those that are still worth keeping, when it has become long. */
  async open(live = () => null) {
    this.live = live;
    await fs.mkdir(this.folder, { recursive: true });
    const entries = parsed(await this.#read());
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

  /** Writes an entry; it is in the file when this is done. */
  async append(entry) {
    await fs.appendFile(this.file, `${JSON.stringify(entry)}\n`);
    this.count += 1;
    if (this.count >= this.compactAt) await this.compact();
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
    const lines = this.notes.splice(0).map((entry) => `${JSON.stringify(entry)}\n`);
    if (!lines.length) return;
    await fs.appendFile(this.file, lines.join(''));
    this.count += lines.length;
  }

  /** Writes the journal anew, without what is over. */
  async compact() {
    const entries = this.live();
    if (!entries) return;
    this.count = 0;
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    await fs.writeFile(`${this.file}.new`, text);
    await fs.rename(`${this.file}.new`, this.file);
    this.count = entries.length;
  }

  async close() {
    await this.flush();
  }
}

/** The entries of a text. What was being written when the power went is no entry. */
function parsed(text) {
  const entries = [];
  for (const line of text.split('\n')) {
    if (!line) continue;
    try {
      entries.push(JSON.parse(line));
    } catch {
      break;
    }
  }
  return entries;
}

module.exports = { Store };
