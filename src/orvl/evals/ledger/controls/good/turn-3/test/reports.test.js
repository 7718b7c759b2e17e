'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { ageing } = require('../lib/reports/ageing');
const { feeReport, meanFee } = require('../lib/reports/fees');
const { statement } = require('../lib/reports/statement');
const { trial } = require('../lib/reports/trial');
const { open, seller } = require('./helpers');

function sold(t) {
  const store = open(t);
  seller(store, 'seller:ana');
  for (const [date, gross] of [['2024-01-05', '10.00'], ['2024-02-05', '20.00'], ['2024-01-20', '30.00']]) {
    store.append({ do: 'sale', date, order: date, gross, sellers: [['seller:ana', 1]] });
  }
  return store.books;
}

test('a statement goes by days', (t) => {
  const { rows, balance } = statement(sold(t), 'seller:ana', '2024-01-10');
  assert.deepStrictEqual(rows.map(({ date }) => date), ['2024-01-20', '2024-02-05']);
  assert.strictEqual(balance, '-56.73');
});

test('fees by day', (t) => {
  const books = sold(t);
  assert.deepStrictEqual(feeReport(books, '2024-01').rows, [
    { date: '2024-01-05', fees: '0.72' },
    { date: '2024-01-20', fees: '1.46' },
  ]);
  assert.strictEqual(meanFee(books, '2024-01'), '1.09');
});

test('trial balance', (t) => {
  const { rows, sum } = trial(sold(t), { date: '2024-01-31' });
  assert.strictEqual(sum, '0.00');
  assert.strictEqual(rows.find(({ account }) => account === 'cash').balance, '40.00');
});

test('ageing', (t) => {
  const { rows } = ageing(sold(t), '2024-02-08');
  assert.deepStrictEqual(rows, [{ account: 'seller:ana', open: ['18.91', '28.54', '9.28', '0.00'] }]);
});
