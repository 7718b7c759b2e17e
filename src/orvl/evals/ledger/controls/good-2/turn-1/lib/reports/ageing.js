'use strict';

const { addDays } = require('../dates');

const STEPS = [7, 30, 90];

/** For how long we have owed money to sellers, in the base currency: the oldest credit is taken to be paid out first. */
function ageing(books, day) {
  const { currencies } = books.config;
  const rows = [];
  for (const account of books.accounts.values()) {
    if (account.kind !== 'seller') continue;
    const open = openCredits(books, account.id, day);
    const buckets = [...STEPS, Infinity].map(() => 0n);
    for (const credit of open) buckets[bucketOf(credit.date, day)] += credit.left;
    if (open.length) rows.push({ account: account.id, open: buckets.map((amount) => currencies.format(amount, currencies.base)) });
  }
  return { date: day, steps: STEPS, rows };
}

function bucketOf(date, day) {
  const at = STEPS.findIndex((step) => date > addDays(day, -step));
  return at < 0 ? STEPS.length : at;
}

/** Credits of an account that no debit has used up. */
function openCredits(books, account, day) {
  const credits = [];
  let debit = 0n;
  const entries = books.entries.filter((entry) => entry.date <= day);
  entries.sort((a, b) => (a.date === b.date ? a.id - b.id : a.date < b.date ? -1 : 1));
  for (const entry of entries) {
    for (const line of entry.lines) {
      if (line.account !== account || line.currency !== books.config.currencies.base) continue;
      if (line.amount < 0n) credits.push({ date: entry.date, left: -line.amount });
      else debit += line.amount;
    }
  }
  for (const credit of credits) {
    const used = debit < credit.left ? debit : credit.left;
    credit.left -= used;
    debit -= used;
  }
  return credits.filter((credit) => credit.left > 0n);
}

module.exports = { ageing };
