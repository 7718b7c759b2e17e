'use strict';

// What must survive a restart: a journal, one JSON entry a line, in the order in which things happened. See
// docs/operations.md for what is in it. Everything here is synchronous: what was done is in the file, in this order.

const fs = require('node:fs');
const path = require('node:path');

const NAME = 'journal.jsonl';

class Store {
  constructor(folder, { compact = 500 } = {}) {
    this.folder = folder;
    this.file = path.join(folder, NAME);
    this.compactAt = compact;
    this.count = 0;
    this.live = () => null;
  }

  /** All entries of the journal. `live` gives those that are still worth keeping, when it has become long. */
  async open(live = () => null) {
    this.live = live;
    fs.mkdirSync(this.folder, { recursive: true });
    const text = fs.existsSync(this.file) ? fs.readFileSync(this.file, 'utf8') : '';
    if (text && !text.endsWith('\n')) fs.appendFileSync(this.file, '\n');
    const entries = text.split('\n').map(entryOf).filter(Boolean);
    this.count = entries.length;
    return entries;
  }

  /** Writes an entry, and before that the whole journal anew if it is long. */
  append(entry) {
    if (this.count >= this.compactAt) this.compact();
    fs.appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
    this.count += 1;
  }

  /** The same; states were written later once. */
  note(entry) {
    this.append(entry);
  }

  compact() {
    const entries = this.live();
    if (!entries) return;
    fs.writeFileSync(`${this.file}.new`, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    fs.renameSync(`${this.file}.new`, this.file);
    this.count = entries.length;
  }

  async close() {}
}

/** Half a line, from when the power went, is no entry. */
function entryOf(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

module.exports = { Store };
