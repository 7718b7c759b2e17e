'use strict';

const { table } = require('../format/table');
const { DAYS, daysOf } = require('./days');
const { Store } = require('../store');
const { viewBalances } = require('../views');

module.exports = {
  summary: 'shows the balance of every account',
  usage: '[--date DAY] [--known DAY] [--json]',
  options: { ...DAYS },
  run(args, { data, config }) {
    const rows = viewBalances(Store.read(data, config).books, daysOf(args));
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
