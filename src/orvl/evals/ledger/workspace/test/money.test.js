'use strict';

const test = require('node:test');
const assert = require('node:assert');
const money = require('../lib/money');
const { Refused } = require('../lib/errors');

test('amounts are read and written', () => {
  for (const text of ['0.00', '12.30', '-12.30', '0.05', '-0.05', '1234567.89']) {
    assert.strictEqual(money.format(money.parse(text)), text);
  }
  assert.strictEqual(money.parse('12.3'), 1230n);
  assert.strictEqual(money.parse('12'), 1200n);
});

test('what is no amount is refused', () => {
  for (const text of ['', '12,30', '1.234', 'abc', '.5', '1.', '+1', ' 1', 12.3, null]) {
    assert.throws(() => money.parse(text), Refused);
  }
});

test('nothing and less is not positive', () => {
  assert.throws(() => money.parsePositive('0'), Refused);
  assert.throws(() => money.parsePositive('-1'), Refused);
});
