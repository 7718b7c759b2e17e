'use strict';

const test = require('node:test');
const assert = require('node:assert');
const booking = require('../lib/booking');
const { auditExport, verify } = require('../lib/audit');
const { open } = require('./helpers');

function booked(t) {
  const store = open(t);
  for (const amount of ['10.00', '9.00', '8.50']) {
    const lines = [
      { account: 'suspense', amount: `-${amount}` },
      { account: 'bank', amount },
    ];
    booking.postEntry(store, { lines, date: '2024-01-05', memo: 'Miete "März"' });
  }
  booking.postCorrection(store, 2, {});
  return store;
}

test('an export is of the books, also later', (t) => {
  const store = booked(t);
  const text = auditExport(store.books);
  assert.match(text.split('\n')[0], /\t{"id":1,.*"lines":\[\["bank","EUR","10.00"\],\["suspense","EUR","-10.00"\]\]}$/);
  assert.match(text.split('\n')[3], /,"reverses":2}$/);
  booking.postCorrection(store, 1, {});
  assert.deepStrictEqual(verify(Buffer.from(text), store.books), { count: 4, wrong: null });
});

test('each changed byte is found', (t) => {
  const { books } = booked(t);
  const bytes = Buffer.from(auditExport(books));
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] ^= 1;
    const line = bytes.subarray(0, at).toString('latin1').split('\n').length;
    assert.strictEqual(verify(changed, books).wrong, line, `byte ${at}`);
  }
  assert.notStrictEqual(verify(bytes.subarray(0, -1), books).wrong, null);
  assert.notStrictEqual(verify(Buffer.concat([bytes, Buffer.from('\n')]), books).wrong, null);
});
