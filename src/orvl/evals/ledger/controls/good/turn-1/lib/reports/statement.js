'use strict';

/** The lines of an account, in the order of their days, with the balance behind each. */
function statement(books, account, from = '', to = '9999') {
  const { currencies } = books.config;
  const balances = new Map();
  const rows = [];
  for (const entry of byDay(books.entries)) {
    if (entry.date > to) continue;
    for (const line of entry.lines) {
      if (line.account !== account) continue;
      const balance = (balances.get(line.currency) || 0n) + line.amount;
      balances.set(line.currency, balance);
      if (entry.date >= from) rows.push(row(entry, line, balance, currencies));
    }
  }
  return { account, rows, balance: currencies.format(balances.get(currencies.base) || 0n, currencies.base) };
}

function row(entry, { currency, amount }, balance, currencies) {
  return {
    entry: entry.id,
    date: entry.date,
    memo: entry.memo,
    currency,
    amount: currencies.format(amount, currency),
    balance: currencies.format(balance, currency),
  };
}

function byDay(entries) {
  return [...entries].sort((a, b) => (a.date === b.date ? a.id - b.id : a.date < b.date ? -1 : 1));
}

module.exports = { statement };
