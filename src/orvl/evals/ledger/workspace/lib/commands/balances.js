'use strict';

const { needDay } = require('../dates');
const { table } = require('../format/table');
const { Store } = require('../store');
const { viewBalances } = require('../views');

module.exports = {
  summary: 'shows the balance of every account',
  usage: '[--date DAY] [--json]',
  options: { date: 'text' },
  run(args, { data, config }) {
    const date = args.date === undefined ? undefined : needDay(args.date, '--date');
    const rows = viewBalances(Store.read(data, config).books, date);
    if (args.json) console.log(JSON.stringify(rows));
    else console.log(table(['account', 'balance'], rows.map(({ account, balance }) => [account, balance]), ['balance']));
  },
};
