'use strict';

/** An entry as the API and --json show it. */
function viewEntry(entry, currencies) {
  return {
    id: entry.id,
    booked: entry.booked,
    date: entry.date,
    memo: entry.memo,
    ...(entry.ref ? { ref: entry.ref } : {}),
    ...(entry.reverses ? { reverses: entry.reverses } : {}),
    ...(entry.corrects ? { corrects: entry.corrects } : {}),
    lines: entry.lines.map(({ account, currency, amount }) => ({
      account,
      currency,
      amount: currencies.format(amount, currency),
    })),
  };
}

/** What is answered to whoever booked something. */
function viewAnswer(books, entry) {
  const { currencies } = books.config;
  const shown = viewEntry(entry, currencies);
  if (!entry.reverses) return shown;
  const next = books.byId.get(entry.id + 1);
  const isItsOwn = next !== undefined && next.corrects === entry.reverses;
  return { reversal: shown, entry: isItsOwn ? viewEntry(next, currencies) : null };
}

/** `days` are `date` and `known`, where somebody asks for an earlier state. */
function viewAccount(account, books, days) {
  return { ...account, ...viewBalance(books.balances(days).get(account.id), books.config.currencies) };
}

function viewBalances(books, days) {
  const { currencies } = books.config;
  return [...books.balances(days)].map(([account, amounts]) => ({ account, ...viewBalance(amounts, currencies) }));
}

/** The balance in the base currency, and in each currency in which there is something. */
function viewBalance(amounts, currencies) {
  const shown = [...amounts].filter(([, amount]) => amount !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    balance: currencies.format(amounts.get(currencies.base) || 0n, currencies.base),
    balances: Object.fromEntries(shown.map(([currency, amount]) => [currency, currencies.format(amount, currency)])),
  };
}

module.exports = { viewEntry, viewAnswer, viewAccount, viewBalances };
