'use strict';

const { UsageError } = require('../errors');
const { fromBank } = require('../dates');
const { objectsOf } = require('./csv');

const COLUMNS = ['date', 'reference', 'text', 'currency', 'amount'];

/** The rows of a bank statement; samples/ has some. */
function readStatement(text, file, currencies) {
  const rows = objectsOf(text);
  return rows.map((row, index) => {
    const missing = COLUMNS.filter((name) => row[name] === undefined);
    if (missing.length) throw new UsageError(`${file}: there is no column ${missing[0]}`);
    return { ...row, date: fromBank(row.date), amount: amountIn(row, currencies), line: index + 2 };
  });
}

function amountIn({ currency, amount }, currencies) {
  return currencies.has(currency) ? unitsOf(amount, currencies.decimals(currency)) : null;
}

/** "1.234,50" with 2 decimals -> 123450n; null where it is no amount, or has other decimals. */
function unitsOf(text, decimals) {
  const match = /^([+-]?)(\d{1,3}(?:\.?\d{3})*)(?:,(\d+))?$/.exec(text);
  if (!match || (match[3] || '').length !== decimals) return null;
  const units = BigInt(match[2].replace(/\./g, '') + (match[3] || ''));
  return match[1] === '-' ? -units : units;
}

module.exports = { readStatement, unitsOf };
