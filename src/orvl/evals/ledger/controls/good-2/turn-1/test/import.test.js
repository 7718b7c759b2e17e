'use strict';

const test = require('node:test');
const assert = require('node:assert');
const path = require('node:path');
const { unitsOf } = require('../lib/bank/statement');
const { rowsOf } = require('../lib/bank/csv');
const { ROOT, folder, tally } = require('./helpers');

const SAMPLE = path.join(ROOT, 'samples/sparkasse-2024-02.csv');

test('a statement is booked once', (t) => {
  const data = folder();
  const first = tally(data, 'import', SAMPLE, '--json');
  assert.strictEqual(first.status, 0, first.stderr);
  assert.deepStrictEqual(JSON.parse(first.stdout), { booked: 6, known: 0, foreign: 0, bad: 0 });
  assert.deepStrictEqual(JSON.parse(tally(data, 'import', SAMPLE, '--json').stdout).known, 6);
  const rows = JSON.parse(tally(data, 'balances', '--json').stdout);
  assert.strictEqual(rows.find(({ account }) => account === 'bank').balance, '10813.15');
});

test('amounts of banks', () => {
  assert.strictEqual(unitsOf('1.234,50', 2), 123450n);
  assert.strictEqual(unitsOf('-0,05', 2), -5n);
  assert.strictEqual(unitsOf('12.50', 2), null);
  assert.strictEqual(unitsOf('12', 2), null);
});

test('a statement in other currencies', (t) => {
  const data = folder();
  assert.strictEqual(tally(data, 'import', path.join(ROOT, 'samples/wise-2024-02.csv')).status, 0);
  const rows = JSON.parse(tally(data, 'balances', '--json').stdout);
  const { balances } = rows.find(({ account }) => account === 'bank');
  assert.deepStrictEqual(balances, { CHF: '1310.20', EUR: '640.00', JPY: '120000', KWD: '12.500' });
});

test('fields in quotes', () => {
  assert.deepStrictEqual(rowsOf('a;"b;c";"d ""e"""\r\n\r\nf;g;h'), [['a', 'b;c', 'd "e"'], ['f', 'g', 'h']]);
});
