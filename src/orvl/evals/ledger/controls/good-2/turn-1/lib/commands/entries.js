'use strict';

const { needDay } = require('../dates');
const { table } = require('../format/table');
const { Store } = require('../store');
const { viewEntry } = require('../views');

module.exports = {
  summary: 'lists entries, by the days that they count for',
  usage: '[--from DAY] [--to DAY] [--json]',
  options: { from: 'text', to: 'text' },
  run(args, { data, config }) {
    const from = args.from === undefined ? '' : needDay(args.from, '--from');
    const to = args.to === undefined ? '9999' : needDay(args.to, '--to');
    const found = Store.read(data, config).books.entries.filter(({ date }) => date >= from && date <= to);
    const shown = found.map((entry) => viewEntry(entry, config.currencies));
    if (args.json) console.log(JSON.stringify(shown));
    else console.log(table(['id', 'date', 'account', 'amount', 'currency', 'memo'], shown.flatMap(rowsOf), ['id', 'amount']));
  },
};

function rowsOf(entry) {
  return entry.lines.map((line, index) => [
    index ? '' : entry.id,
    index ? '' : entry.date,
    line.account,
    line.amount,
    line.currency,
    index ? '' : entry.memo,
  ]);
}
