'use strict';

const money = require('../money');

/** Every account with its balance; the sum of all of them is 0, or something is very wrong. */
function trial(books, date) {
  const rows = [];
  let total = 0n;
  for (const [id, balance] of books.balances(date)) {
    total += balance;
    if (balance !== 0n) rows.push({ account: id, kind: books.accounts.get(id).kind, balance: money.format(balance) });
  }
  return { rows, sum: money.format(total) };
}

module.exports = { trial };
