'use strict';

const test = require('node:test');
const assert = require('node:assert');
const dates = require('../lib/dates');

test('days that exist', () => {
  for (const day of ['2024-02-29', '2023-12-31']) assert.ok(dates.isDay(day));
  for (const day of ['2023-02-29', '2024-2-1', '2024-13-01', '', null, '2024-02-29T00:00']) assert.ok(!dates.isDay(day));
});

test('days before and after', () => {
  assert.strictEqual(dates.addDays('2024-02-28', 2), '2024-03-01');
  assert.strictEqual(dates.addDays('2024-03-01', -1), '2024-02-29');
});

test('the day of an instant', () => {
  assert.strictEqual(dates.dayOf('2024-03-05T23:59:59.999Z'), '2024-03-05');
  assert.strictEqual(dates.dayOf('2024-03-05T00:00:00.000Z'), '2024-03-05');
});

test('months', () => {
  assert.deepStrictEqual(dates.monthOf('2024-02'), { from: '2024-02-01', to: '2024-02-29' });
  assert.throws(() => dates.monthOf('2024-2'));
});

test('days as banks write them', () => {
  assert.strictEqual(dates.fromBank('05.03.2024'), '2024-03-05');
  assert.strictEqual(dates.fromBank('31.02.2024'), null);
  assert.strictEqual(dates.fromBank('2024-03-05'), null);
});
