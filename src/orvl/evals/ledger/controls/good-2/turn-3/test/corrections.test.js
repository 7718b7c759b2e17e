'use strict';

const test = require('node:test');
const assert = require('node:assert');
const plans = require('../lib/plans');
const { open } = require('./helpers');

const lines = (amount) => [
  { account: 'bank', amount },
  { account: 'suspense', amount: `-${amount}` },
];

test('a correction takes back and books anew, once', async (t) => {
  const store = open(t);
  await store.book(plans.entry, { lines: lines('10.00'), date: '2024-01-05', memo: 'rent' });
  const made = await store.book(plans.correction, { lines: lines('12.00'), date: '2024-01-20' }, {}, 1);
  assert.deepStrictEqual([made.reversal.id, made.entry.id, made.entry.memo], [2, 3, 'rent']);
  assert.strictEqual(store.books.balances({ date: '2024-01-10' }).get('bank').get('EUR'), 0n);
  for (const id of [1, 2]) await assert.rejects(store.book(plans.correction, {}, {}, id), /back/);
  const next = await store.book(plans.entry, { lines: lines('1.00') });
  assert.strictEqual(next.id, 4);
  await store.book(plans.correction, {}, {}, 3);
  assert.strictEqual(store.books.balances().get('bank').get('EUR'), 100n);
});
