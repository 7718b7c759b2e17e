'use strict';

const fs = require('node:fs');
const path = require('node:path');

const NAME = 'snapshot.json';

/** What the first `upto` records of the journal come to, so that a start need not read them all again. */
function writeSnapshot(folder, books) {
  const content = {
    upto: books.last,
    accounts: [...books.accounts.values()],
    keys: [...books.keys],
    entries: books.entries.map((entry) => ({ ...entry, lines: books.linesOut(entry.lines) })),
  };
  // Written beside and put in place as a whole, so that there is never half of one.
  const beside = path.join(folder, `${NAME}.new`);
  fs.writeFileSync(beside, JSON.stringify(content), { flush: true });
  fs.renameSync(beside, path.join(folder, NAME));
}

/** What the snapshot says; null where there is none that can be used. It is no more than a help: the journal has it all. */
function readSnapshot(folder) {
  try {
    const content = JSON.parse(fs.readFileSync(path.join(folder, NAME), 'utf8'));
    return Number.isInteger(content.upto) ? content : null;
  } catch {
    return null;
  }
}

/** Fills empty books. */
function applySnapshot(content, books) {
  for (const account of content.accounts) books.accounts.set(account.id, account);
  for (const entry of content.entries) {
    books.add({ ...entry, n: entry.id, at: entry.booked }, books.linesIn(entry.lines));
  }
  for (const [key, used] of content.keys || []) books.keys.set(key, used);
  books.last = content.upto;
}

function dropSnapshot(folder) {
  fs.rmSync(path.join(folder, NAME), { force: true });
}

module.exports = { writeSnapshot, readSnapshot, applySnapshot, dropSnapshot };
