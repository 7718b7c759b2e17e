#!/usr/bin/env node
// Billing: what each team's backups cost this month. usage.js [OPTIONS FOR COFFER]
'use strict';

const { coffer } = require('../shared/coffer');

const CENTS_A_GIGABYTE = 3;
const { rows, total } = coffer('sizes', process.argv.slice(2));

let sum = 0;
for (const row of rows) {
  const cents = Math.round((row.size / 1e9) * CENTS_A_GIGABYTE);
  const share = row.share === null ? '-' : `${(row.share * 100).toFixed(2)} %`;
  console.log(`${row.name},${row.size},${cents},${share}`);
  sum += row.size;
}
if (sum !== total) throw new Error(`the parts are ${sum}, but the total is ${total}`);
console.log(`total,${total}`);
