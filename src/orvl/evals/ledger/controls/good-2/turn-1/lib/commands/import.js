'use strict';

const fs = require('node:fs');
const { importRows } = require('../bank/import');
const { readStatement } = require('../bank/statement');
const { UsageError } = require('../errors');
const { Store } = require('../store');

module.exports = {
  summary: 'books the rows of a bank statement',
  usage: 'FILE [--json]',
  options: {},
  async run(args, { data, config }) {
    const [file] = args.words;
    if (!file) throw new UsageError('import needs a FILE');
    const rows = readStatement(fs.readFileSync(file, 'utf8'), file, config.currencies);
    const store = Store.open(data, config);
    try {
      const counts = await importRows(store, rows);
      console.log(args.json ? JSON.stringify(counts) : sentence(counts));
      return counts.bad ? 1 : 0;
    } finally {
      store.close();
    }
  },
};

function sentence({ booked, known, bad }) {
  const parts = [`${booked} booked`];
  if (known) parts.push(`${known} known`);
  if (bad) parts.push(`${bad} could not be read`);
  return parts.join(', ');
}
