'use strict';

const test = require('node:test');
const assert = require('node:assert');
const booking = require('../lib/booking');
const { Store } = require('../lib/store');
const { open } = require('./helpers');

const lines = (amount) => [
  { account: 'bank', amount },
  { account: 'suspense', amount: `-${amount}` },
];

test('a correction takes back and books anew', (t) => {
  const store = open(t);
  const wrong = booking.postEntry(store, { lines: lines('10.00'), date: '2024-01-05', memo: 'rent' });
  booking.postCorrection(store, wrong.id, { lines: lines('12.00'), date: '2024-01-20' });
  const { books } = store;
  assert.deepStrictEqual(
    books.entries.map(({ id, date, memo, reverses, corrects }) => [id, date, memo, reverses, corrects]),
    [
      [1, '2024-01-05', 'rent', undefined, undefined],
      [2, '2024-01-05', 'reversal of 1', 1, undefined],
      [3, '2024-01-20', 'rent', undefined, 1],
    ],
  );
  assert.strictEqual(books.balances({ date: '2024-01-10' }).get('bank').get('EUR'), 0n);
  assert.strictEqual(books.balances().get('bank').get('EUR'), 1200n);
  assert.throws(() => booking.postCorrection(store, 1, {}), /was taken back by 2/);
  assert.throws(() => booking.postCorrection(store, 2, {}), /is a reversal/);
  booking.postCorrection(store, 3, {});
  assert.strictEqual(books.balances().get('bank').get('EUR'), 0n);
  assert.deepStrictEqual(Store.read(store.folder, store.config).books.entries, books.entries);
});

test('what was known on a day', (t) => {
  const store = open(t);
  const { id } = booking.postEntry(store, { lines: lines('10.00'), date: '2024-01-05' });
  store.books.byId.get(id).booked = '2024-02-01T23:59:59.000Z';
  assert.strictEqual(store.books.balances({ known: '2024-01-31' }).get('bank').size, 0);
  assert.strictEqual(store.books.balances({ known: '2024-02-01' }).get('bank').get('EUR'), 1000n);
});
