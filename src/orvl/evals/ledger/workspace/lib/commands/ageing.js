'use strict';

const clock = require('../clock');
const { needDay } = require('../dates');
const { table } = require('../format/table');
const { ageing } = require('../reports/ageing');
const { Store } = require('../store');

module.exports = {
  summary: 'shows for how long we have owed money to sellers',
  usage: '[--date DAY] [--json]',
  options: { date: 'text' },
  run(args, { data, config }) {
    const day = args.date === undefined ? clock.today() : needDay(args.date, '--date');
    const found = ageing(Store.read(data, config).books, day);
    const names = ['account', ...found.steps.map((step) => `${step} days`), 'older'];
    if (args.json) console.log(JSON.stringify(found));
    else console.log(table(names, found.rows.map(({ account, open }) => [account, ...open]), names.slice(1)));
  },
};
