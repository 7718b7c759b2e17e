'use strict';

const { postEntry } = require('../booking');
const { counterpart } = require('./match');

/** Books the rows of a statement that were not booked before; counts what became of them. */
function importRows(store, rows) {
  const counts = { booked: 0, known: 0, foreign: 0, bad: 0 };
  for (const row of rows) counts[importRow(store, row)] += 1;
  return counts;
}

function importRow(store, row) {
  if (!row.date || !row.reference || row.amount === null || row.amount === 0n) return 'bad';
  const ref = `bank:${row.reference}`;
  if (store.books.references.has(ref)) return 'known';
  const { currencies } = store.config;
  const { currency } = row;
  postEntry(store, {
    date: row.date,
    memo: row.text.slice(0, 200),
    ref,
    lines: [
      { account: 'bank', currency, amount: currencies.format(row.amount, currency) },
      { account: counterpart(row, store.books), currency, amount: currencies.format(-row.amount, currency) },
    ],
  });
  return 'booked';
}

module.exports = { importRows };
