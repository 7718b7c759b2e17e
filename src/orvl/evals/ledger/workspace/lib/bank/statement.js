'use strict';

const { UsageError } = require('../errors');
const { fromBank } = require('../dates');
const { objectsOf } = require('./csv');

const COLUMNS = ['date', 'reference', 'text', 'currency', 'amount'];

/** The rows of a bank statement; samples/ has some. */
function readStatement(text, file) {
  const rows = objectsOf(text);
  return rows.map((row, index) => {
    const missing = COLUMNS.filter((name) => row[name] === undefined);
    if (missing.length) throw new UsageError(`${file}: there is no column ${missing[0]}`);
    return { ...row, date: fromBank(row.date), cents: centsOf(row.amount), line: index + 2 };
  });
}

/** "1.234,50" -> 123450n; null where it is no amount. */
function centsOf(text) {
  if (!/^[+-]?\d{1,3}(\.?\d{3})*,\d{2}$/.test(text)) return null;
  return BigInt(Math.round(parseFloat(text.replace(/\./g, '').replace(',', '.')) * 100));
}

module.exports = { readStatement, centsOf };
