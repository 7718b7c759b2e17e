'use strict';

/** Every account with its balance in each currency; their sum is 0, or something is very wrong. */
function trial(books, date) {
  const { currencies } = books.config;
  const rows = [];
  let total = 0n;
  for (const [id, balances] of books.balances(date)) {
    const { kind } = books.accounts.get(id);
    for (const [currency, balance] of [...balances].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (currency === currencies.base) total += balance;
      if (balance !== 0n) rows.push({ account: id, kind, currency, balance: currencies.format(balance, currency) });
    }
  }
  return { rows, sum: currencies.format(total, currencies.base) };
}

module.exports = { trial };
