'use strict';

const test = require('node:test');
const assert = require('node:assert');
const money = require('../lib/money');
const { Refused } = require('../lib/errors');

test('amounts are read and written', () => {
  for (const text of ['0.00', '12.30', '-12.30', '0.05', '-0.05', '1234567.89']) {
    assert.strictEqual(money.format(money.parse(text, 2), 2), text);
  }
  assert.strictEqual(money.parse('12.3', 2), 1230n);
  assert.strictEqual(money.parse('12', 2), 1200n);
});

test('what is no amount is refused', () => {
  for (const text of ['', '12,30', '1.234', 'abc', '.5', '1.', '+1', ' 1', 12.3, null]) {
    assert.throws(() => money.parse(text, 2), Refused);
  }
});

test('currencies have their own decimals', () => {
  assert.strictEqual(money.format(500n, 0), '500');
  assert.strictEqual(money.format(-5n, 3), '-0.005');
  assert.throws(() => money.parse('1.5', 0), Refused);
});
