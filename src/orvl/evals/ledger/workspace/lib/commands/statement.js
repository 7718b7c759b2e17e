'use strict';

const { UsageError } = require('../errors');
const { needDay } = require('../dates');
const { table } = require('../format/table');
const { statement } = require('../reports/statement');
const { Store } = require('../store');

module.exports = {
  summary: 'shows what was booked on an account',
  usage: 'ACCOUNT [--from DAY] [--to DAY] [--json]',
  options: { from: 'text', to: 'text' },
  run(args, { data, config }) {
    const { books } = Store.read(data, config);
    const [account] = args.words;
    if (!books.accounts.has(account)) throw new UsageError(`there is no account ${account}`);
    const from = args.from === undefined ? undefined : needDay(args.from, '--from');
    const to = args.to === undefined ? undefined : needDay(args.to, '--to');
    const found = statement(books, account, from, to);
    if (args.json) console.log(JSON.stringify(found));
    else console.log(table(['date', 'memo', 'amount', 'balance'], found.rows.map(cells), ['amount', 'balance']));
  },
};

const cells = ({ date, memo, amount, balance }) => [date, memo, amount, balance];
