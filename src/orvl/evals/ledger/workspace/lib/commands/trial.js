'use strict';

const { needDay } = require('../dates');
const { table } = require('../format/table');
const { trial } = require('../reports/trial');
const { Store } = require('../store');

module.exports = {
  summary: 'shows the trial balance, and ends with 1 if it is not 0',
  usage: '[--date DAY] [--json]',
  options: { date: 'text' },
  run(args, { data, config }) {
    const date = args.date === undefined ? undefined : needDay(args.date, '--date');
    const found = trial(Store.read(data, config).books, date);
    if (args.json) console.log(JSON.stringify(found));
    else {
      const rows = [...found.rows.map(({ account, kind, balance }) => [account, kind, balance]), ['sum', '', found.sum]];
      console.log(table(['account', 'kind', 'balance'], rows, ['balance']));
    }
    return found.sum === '0.00' ? 0 : 1;
  },
};
