#!/usr/bin/env node
// Operations: how much Sunday's pruning will free.
'use strict';

const { coffer } = require('../shared/coffer');

const { rows, total } = coffer('prune', process.argv.slice(2));
for (const row of rows) {
  console.log(`${row.path} ${row.size} ${row.kind}`);
}
console.log(`frees ${total} bytes in ${rows.length} folders`);
