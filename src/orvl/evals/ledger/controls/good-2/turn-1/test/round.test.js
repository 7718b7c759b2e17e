'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Fraction, divideAmong } = require('../lib/round');

test('half goes up', () => {
  assert.deepStrictEqual(['2.5', '3.5', '2.49', '7'].map((text) => Fraction.of(text).round()), [3n, 4n, 2n, 7n]);
});

test('the first takes the rest', () => {
  assert.deepStrictEqual(divideAmong(9595n, [1, 1, 1]), [3199n, 3198n, 3198n]);
  assert.deepStrictEqual(divideAmong(7n, [4]), [7n]);
});
