'use strict';

const fs = require('node:fs');
const audit = require('../audit');
const { UsageError } = require('../errors');
const { Store } = require('../store');

module.exports = {
  summary: 'says whether an export for the auditors was made from these books',
  usage: 'FILE',
  options: {},
  run({ words }, { data, config }) {
    if (words.length !== 1) throw new UsageError('verify needs one FILE');
    const bytes = fs.readFileSync(words[0]);
    const line = audit.firstWrongLine(bytes, Store.read(data, config).books);
    if (!line) {
      console.log(`ok ${bytes.toString('binary').split('\n').length - 2}`);
      return 0;
    }
    console.error(`tally: line ${line} differs from the books`);
    return 1;
  },
};
