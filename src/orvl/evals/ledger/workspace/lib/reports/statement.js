'use strict';

const money = require('../money');

/** The lines of an account, in the order of their days, with the balance behind each. */
function statement(books, account, from = '', to = '9999') {
  let balance = 0n;
  const rows = [];
  for (const entry of byDay(books.entries)) {
    if (entry.date > to) continue;
    for (const line of entry.lines) {
      if (line.account !== account) continue;
      balance += line.amount;
      if (entry.date >= from) rows.push(row(entry, line, balance));
    }
  }
  return { account, rows, balance: money.format(balance) };
}

function row(entry, line, balance) {
  return {
    entry: entry.id,
    date: entry.date,
    memo: entry.memo,
    amount: money.format(line.amount),
    balance: money.format(balance),
  };
}

function byDay(entries) {
  return [...entries].sort((a, b) => (a.date === b.date ? a.id - b.id : a.date < b.date ? -1 : 1));
}

module.exports = { statement };
