'use strict';

const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const booking = require('../lib/booking');
const { loadConfig } = require('../lib/config');
const { Store } = require('../lib/store');
const { ROOT, folder, open } = require('./helpers');

const lines = [
  { account: 'bank', amount: '1.00' },
  { account: 'suspense', amount: '-1.00' },
];

/** What a process leaves that was killed while it wrote. */
function killed(cut) {
  const data = folder();
  const store = Store.open(data, loadConfig(path.join(ROOT, 'config')));
  booking.postEntry(store, { lines, memo: 'Käse' });
  booking.postEntry(store, { lines, memo: 'Brot' });
  booking.postCorrection(store, 2, { lines });
  store.close();
  const file = path.join(data, 'journal.jsonl');
  const bytes = fs.readFileSync(file);
  fs.writeFileSync(file, bytes.subarray(0, bytes.length - cut));
  fs.writeFileSync(path.join(data, 'snapshot.json'), '{"upto":1,"acc');
  fs.writeFileSync(path.join(data, 'tally.lock'), `${process.pid}\n`);
  return data;
}

test('a half-written line is dropped, and writing goes on behind the last whole one', (t) => {
  for (const cut of [1, 2, 40]) {
    const data = killed(cut);
    const store = open(t, data);
    assert.strictEqual(store.books.entries.length, 2);
    booking.postEntry(store, { lines });
    assert.deepStrictEqual(Store.read(data, store.config).books.entries.map(({ id }) => id), [1, 2, 3]);
  }
});

test('the lock of a killed process, and half a snapshot, are nobody\'s concern', (t) => {
  assert.strictEqual(open(t, killed(0)).books.entries.length, 4);
});

test('a snapshot that is ahead of the journal is not used', (t) => {
  const data = killed(0);
  fs.writeFileSync(path.join(data, 'snapshot.json'), '{"upto":9,"accounts":[],"entries":[]}');
  assert.strictEqual(open(t, data).books.entries.length, 4);
});

test('what was answered is on the disk', (t) => {
  const store = open(t);
  booking.postEntry(store, { lines });
  assert.strictEqual(Store.read(store.folder, store.config).books.entries.length, 1);
});
