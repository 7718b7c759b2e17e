'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { dayOf, daysBefore, daysOf, weekday } = require('../lib/dates');
const { euros, toCents } = require('../lib/money');

test('a week has seven days from Monday on', () => {
  assert.deepStrictEqual(daysOf('2026-W01')[0], '2025-12-29');
  assert.deepStrictEqual(daysOf('2026-W12')[6], '2026-03-22');
  assert.deepStrictEqual(daysBefore('2026-W12')[0], '2026-03-09');
  assert.strictEqual(weekday('2026-03-16'), 'Mon');
});

test('a day is the first part of a time', () => {
  assert.strictEqual(dayOf('2026-03-16T22:30:00Z'), '2026-03-16');
  assert.strictEqual(dayOf('16.03.2026 22:30'), '2026-03-16');
});

test('amounts are cents', () => {
  assert.strictEqual(toCents('12,50'), 1250);
  assert.strictEqual(euros(-1205), '-12.05');
});
