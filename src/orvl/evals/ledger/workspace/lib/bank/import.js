'use strict';

const money = require('../money');
const { postEntry } = require('../booking');
const { counterpart } = require('./match');

/** Books the rows of a statement that were not booked before; counts what became of them. */
function importRows(store, rows) {
  const counts = { booked: 0, known: 0, foreign: 0, bad: 0 };
  for (const row of rows) counts[importRow(store, row)] += 1;
  return counts;
}

function importRow(store, row) {
  if (!row.date || !row.reference || row.cents === null || row.cents === 0n) return 'bad';
  if (row.currency !== store.config.currencies.base) return 'foreign';
  const ref = `bank:${row.reference}`;
  if (store.books.references.has(ref)) return 'known';
  const amount = money.format(row.cents);
  postEntry(store, {
    date: row.date,
    memo: row.text.slice(0, 200),
    ref,
    lines: [
      { account: 'bank', amount },
      { account: counterpart(row, store.books), amount: money.format(-row.cents) },
    ],
  });
  return 'booked';
}

module.exports = { importRows };
