'use strict';

const fs = require('node:fs');
const { verify } = require('../audit');
const { UsageError } = require('../errors');
const { Store } = require('../store');

module.exports = {
  summary: 'compares an export for the auditors with the books',
  usage: 'FILE',
  options: {},
  run({ words: [file] }, { data, config }) {
    if (!file) throw new UsageError('verify needs a FILE');
    const { count, wrong } = verify(fs.readFileSync(file), Store.read(data, config).books);
    console.log(wrong === null ? `ok ${count}` : `${file}: line ${wrong} is not what the books say`);
    return wrong === null ? 0 : 1;
  },
};
