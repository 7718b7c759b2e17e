'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Currencies } = require('../lib/currencies');
const { FeeRules } = require('../lib/fees');
const { Rates } = require('../lib/rates');
const { HALF_UP, divide, split } = require('../lib/rounding');

const CURRENCIES = new Currencies({ base: 'EUR', currencies: { EUR: { decimals: 2 }, JPY: { decimals: 0 }, KWD: { decimals: 3 } } });
const RATES = new Rates('date,currency,rate\n2024-01-02,JPY,150\n2024-01-02,JPY,160.5\n2024-02-01,KWD,0.3333\n', CURRENCIES);
const RULES = new FeeRules(
  [
    { from: '2024-01-01', percent: '3.7', fixed: '0.35' },
    { from: '2022-01-01', percent: '4.5', fixed: '0.30' },
  ],
  RATES,
);

test('the rule of the day counts', () => {
  assert.strictEqual(RULES.on(10000n, 'EUR', '2021-12-31'), 0n);
  assert.strictEqual(RULES.on(10000n, 'EUR', '2022-01-01'), 480n);
  assert.strictEqual(RULES.on(10000n, 'EUR', '2024-05-01'), 405n);
  assert.strictEqual(RULES.on(10000n, 'JPY', '2024-05-01'), 426n);
});

test('a fee is never more than the sale', () => {
  assert.strictEqual(RULES.on(20n, 'EUR', '2024-05-01'), 20n);
});

test('rates', () => {
  assert.strictEqual(RATES.convert(2000n, 'EUR', 'JPY', '2024-03-01'), 3210n);
  assert.strictEqual(RATES.convert(1000n, 'KWD', 'EUR', '2024-03-01'), 300n);
  assert.throws(() => RATES.convert(1000n, 'KWD', 'EUR', '2024-01-31'), /no rate/);
});

test('half goes to even, and went up', () => {
  assert.deepStrictEqual([divide(5n, 2n), divide(7n, 2n), divide(251n, 100n)], [2n, 4n, 3n]);
  assert.deepStrictEqual([divide(5n, 2n, HALF_UP), divide(249n, 100n, HALF_UP)], [3n, 2n]);
});

test('parts come to the whole, and the largest share gets the rest', () => {
  assert.deepStrictEqual(split(9595n, [1, 1, 1]), [3199n, 3198n, 3198n]);
  assert.deepStrictEqual(split(100n, [1, 1, 1, 1, 1, 1], HALF_UP), [15n, 17n, 17n, 17n, 17n, 17n]);
  assert.deepStrictEqual(split(100n, [1, 4, 4]), [11n, 45n, 44n]);
  assert.deepStrictEqual(split(0n, [2, 3]), [0n, 0n]);
});
