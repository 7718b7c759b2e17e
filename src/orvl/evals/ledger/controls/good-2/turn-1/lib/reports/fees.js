'use strict';

const money = require('../money');
const { monthOf } = require('../dates');
const { Fraction } = require('../round');

/** What we earned in a month in the base currency, by day. */
function feeReport(books, month) {
  const { from, to } = monthOf(month);
  const { currencies } = books.config;
  const days = new Map();
  for (const entry of books.entries) {
    if (entry.date < from || entry.date > to) continue;
    for (const line of entry.lines) {
      if (!isFee(line, currencies)) continue;
      days.set(entry.date, (days.get(entry.date) || 0n) - line.amount);
    }
  }
  const rows = [...days.keys()].sort().map((date) => ({ date, fees: currencies.format(days.get(date), currencies.base) }));
  return { month, rows, total: currencies.format(money.sum([...days.values()]), currencies.base) };
}

const isFee = (line, currencies) => line.account === 'revenue:fees' && line.currency === currencies.base;

/** The mean fee of a sale in the base currency, for the page of the founders. */
function meanFee(books, month) {
  const { from, to } = monthOf(month);
  const { currencies } = books.config;
  const fees = books.entries
    .filter((entry) => entry.date >= from && entry.date <= to && entry.memo.startsWith('sale '))
    .filter((entry) => entry.lines[0].currency === currencies.base)
    .map((entry) => -(entry.lines.find((line) => isFee(line, currencies)) || { amount: 0n }).amount);
  return currencies.format(new Fraction(money.sum(fees), BigInt(fees.length || 1)).round(), currencies.base);
}

module.exports = { feeReport, meanFee };
