'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { FeeRules } = require('../lib/fees');
const { split } = require('../lib/split');

const RULES = new FeeRules([
  { from: '2024-01-01', percent: '3.7', fixed: '0.35' },
  { from: '2022-01-01', percent: '4.5', fixed: '0.30' },
]);

test('the rule of the day counts', () => {
  assert.strictEqual(RULES.on(10000n, '2021-12-31'), 0n);
  assert.strictEqual(RULES.on(10000n, '2022-01-01'), 480n);
  assert.strictEqual(RULES.on(10000n, '2024-05-01'), 405n);
});

test('a fee is never more than the sale', () => {
  assert.strictEqual(RULES.on(20n, '2024-05-01'), 20n);
});

test('parts come to the whole, and the first gets the rest', () => {
  assert.deepStrictEqual(split(9595n, [1, 1, 1]), [3199n, 3198n, 3198n]);
  assert.deepStrictEqual(split(100n, [1, 1, 1, 1, 1, 1]), [15n, 17n, 17n, 17n, 17n, 17n]);
  assert.deepStrictEqual(split(0n, [2, 3]), [0n, 0n]);
});
