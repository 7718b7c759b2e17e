'use strict';

const money = require('./money');

/** An entry as the API and --json show it. */
function viewEntry(entry) {
  return {
    id: entry.id,
    booked: entry.booked,
    date: entry.date,
    memo: entry.memo,
    ...(entry.ref ? { ref: entry.ref } : {}),
    lines: entry.lines.map((line) => ({ account: line.account, currency: line.currency || 'EUR', amount: money.format(line.amount) })),
  };
}

function viewAccount(account, books, date) {
  return { ...account, balance: money.format(books.balance(account.id, date)) };
}

function viewBalances(books, date) {
  return [...books.balances(date)].map(([account, balance]) => ({
    account,
    balance: money.format(balance),
    balances: { EUR: money.format(balance) },
  }));
}

module.exports = { viewEntry, viewAccount, viewBalances };
