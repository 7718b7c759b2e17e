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
    else console.log(table(['account', 'balance', 'currency'], rows.flatMap(shown(config.currencies.base)), ['balance']));
  },
};

/** A line for each currency of an account, and one for accounts on which there is nothing. */
const shown =
  (base) =>
  ({ account, balance, balances }) => {
    const found = Object.entries(balances).map(([currency, amount]) => [account, amount, currency]);
    return found.length ? found : [[account, balance, base]];
  };
