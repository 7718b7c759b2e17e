'use strict';

const { UsageError } = require('../errors');
const { table } = require('../format/table');
const { feeReport, meanFee } = require('../reports/fees');
const { Store } = require('../store');

module.exports = {
  summary: 'shows the fees of a month by day',
  usage: 'MONTH [--mean] [--json]',
  options: { mean: 'flag' },
  run(args, { data, config }) {
    const [month] = args.words;
    if (!month) throw new UsageError('fees needs a MONTH such as 2024-02');
    const { books } = Store.read(data, config);
    const found = feeReport(books, month);
    if (args.mean) found.mean = meanFee(books, month);
    if (args.json) console.log(JSON.stringify(found));
    else {
      const rows = [...found.rows.map(({ date, fees }) => [date, fees]), ['total', found.total]];
      console.log(table(['date', 'fees'], args.mean ? [...rows, ['mean', found.mean]] : rows, ['fees']));
    }
  },
};
