'use strict';

/** An entry as the API and --json show it. */
function viewEntry(entry, currencies) {
  return {
    id: entry.id,
    booked: entry.booked,
    date: entry.date,
    memo: entry.memo,
    ...(entry.ref ? { ref: entry.ref } : {}),
    lines: entry.lines.map(({ account, currency, amount }) => ({
      account,
      currency,
      amount: currencies.format(amount, currency),
    })),
  };
}

function viewAccount(account, books, date) {
  return { ...account, ...viewBalance(books.balances(date).get(account.id), books.config.currencies) };
}

function viewBalances(books, date) {
  const { currencies } = books.config;
  return [...books.balances(date)].map(([account, amounts]) => ({ account, ...viewBalance(amounts, currencies) }));
}

/** The balance in the base currency, and in each currency in which there is something. */
function viewBalance(amounts, currencies) {
  const shown = [...amounts].filter(([, amount]) => amount !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    balance: currencies.format(amounts.get(currencies.base) || 0n, currencies.base),
    balances: Object.fromEntries(shown.map(([currency, amount]) => [currency, currencies.format(amount, currency)])),
  };
}

module.exports = { viewEntry, viewAccount, viewBalances };
