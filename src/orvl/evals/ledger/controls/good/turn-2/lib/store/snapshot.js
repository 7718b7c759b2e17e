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
  fs.writeFileSync(path.join(folder, NAME), JSON.stringify(content));
}

/** Fills empty books; the number of records that need not be read. */
function readSnapshot(folder, books) {
  const file = path.join(folder, NAME);
  if (!fs.existsSync(file)) return 0;
  const content = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const account of content.accounts) books.accounts.set(account.id, account);
  for (const entry of content.entries) {
    books.add({ ...entry, n: entry.id, at: entry.booked }, books.linesIn(entry.lines));
  }
  for (const [key, used] of content.keys || []) books.keys.set(key, used);
  books.last = content.upto;
  return content.upto;
}

function dropSnapshot(folder) {
  fs.rmSync(path.join(folder, NAME), { force: true });
}

module.exports = { writeSnapshot, readSnapshot, dropSnapshot };
