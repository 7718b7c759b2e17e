'use strict';

const { table } = require('../format/table');
const { DAYS, daysOf } = require('./days');
const { trial } = require('../reports/trial');
const { Store } = require('../store');

module.exports = {
  summary: 'shows the trial balance, and ends with 1 if it is not 0',
  usage: '[--date DAY] [--known DAY] [--json]',
  options: { ...DAYS },
  run(args, { data, config }) {
    const found = trial(Store.read(data, config).books, daysOf(args));
    if (args.json) console.log(JSON.stringify(found));
    else {
      const rows = found.rows.map(({ account, kind, balance, currency }) => [account, kind, balance, currency]);
      rows.push(['sum', '', found.sum, config.currencies.base]);
      console.log(table(['account', 'kind', 'balance', 'currency'], rows, ['balance']));
    }
    return /[1-9]/.test(found.sum) ? 1 : 0;
  },
};
