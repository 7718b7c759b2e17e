'use strict';

const test = require('node:test');
const assert = require('node:assert');
const audit = require('../lib/audit');
const plans = require('../lib/plans');
const { open } = require('./helpers');

test('every byte counts', async (t) => {
  const store = await open(t);
  const lines = [
    { account: 'suspense', amount: '-5.00' },
    { account: 'bank', amount: '5.00' },
  ];
  for (const memo of ['Käse', '"x"']) await store.book(plans.entry, { lines, memo, date: '2024-01-01' });
  await store.book(plans.correction, {}, {}, 1);
  const bytes = Buffer.from(audit.write(store.books));
  assert.strictEqual(audit.firstWrongLine(bytes, store.books), 0);
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = Buffer.from(bytes);
    changed[at] += 1;
    assert.notStrictEqual(audit.firstWrongLine(changed, store.books), 0);
  }
  await store.book(plans.correction, {}, {}, 2);
  assert.strictEqual(audit.firstWrongLine(bytes, store.books), 0);
});
