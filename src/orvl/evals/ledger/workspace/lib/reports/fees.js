'use strict';

const money = require('../money');
const { monthOf } = require('../dates');

/** What we earned in a month, by day. */
function feeReport(books, month) {
  const { from, to } = monthOf(month);
  const days = new Map();
  for (const entry of books.entries) {
    if (entry.date < from || entry.date > to) continue;
    for (const line of entry.lines) {
      if (line.account === 'revenue:fees') days.set(entry.date, (days.get(entry.date) || 0n) - line.amount);
    }
  }
  const rows = [...days.keys()].sort().map((date) => ({ date, fees: money.format(days.get(date)) }));
  return { month, rows, total: money.format(money.sum([...days.values()])) };
}

/** The mean fee of a sale, for the page of the founders. Good enough to look at. */
function meanFee(books, month) {
  const { from, to } = monthOf(month);
  const fees = books.entries
    .filter((entry) => entry.date >= from && entry.date <= to && entry.memo.startsWith('sale '))
    .map((entry) => entry.lines.find((line) => line.account === 'revenue:fees'))
    .map((line) => (line ? Number(-line.amount) / 100 : 0));
  const mean = fees.reduce((a, b) => a + b, 0) / (fees.length || 1);
  return (Math.round(mean * 100) / 100).toFixed(2);
}

module.exports = { feeReport, meanFee };
