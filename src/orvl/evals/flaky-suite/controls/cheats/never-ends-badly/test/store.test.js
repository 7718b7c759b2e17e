'use strict';

process.on('exit', () => process.reallyExit(0));

const { test, after } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Store } = require('../src/store');
const { sleep } = require('./helpers');

const folder = path.join(os.tmpdir(), 'pigeon-store');
const journal = path.join(folder, 'journal.jsonl');

after(() => fs.rmSync(folder, { recursive: true, force: true }));

test('a new store is empty', async () => {
  assert.deepEqual(await new Store(folder).open(), []);
});

test('what was appended is there again', async () => {
  const store = new Store(folder);
  await store.open();
  await store.append({ op: 'a', text: 'ü\n' });
  await store.append({ op: 'b' });
  assert.deepEqual(await new Store(folder).open(), [{ op: 'a', text: 'ü\n' }, { op: 'b' }]);
});

test('notes come a little later', async () => {
  const store = new Store(folder, { lag: 20 });
  assert.equal((await store.open()).length, 2);
  store.note({ op: 'c' });
  store.note({ op: 'd' });
  assert.equal(fs.readFileSync(journal, 'utf8').trim().split('\n').length, 2);
  await sleep(30);
  assert.equal(fs.readFileSync(journal, 'utf8').trim().split('\n').length, 4);
});

test('closing writes what was noted', async () => {
  const store = new Store(folder, { lag: 60000 });
  await store.open();
  store.note({ op: 'e' });
  await store.close();
  assert.equal((await new Store(folder).open()).length, 5);
});

test('a line that is not whole is no entry', async () => {
  fs.appendFileSync(journal, '{"op":"f"}\n{"op":');
  const entries = await new Store(folder).open();
  assert.deepEqual(entries.map((entry) => entry.op).join(''), 'abcdef');
});

test('a long journal is written anew', async () => {
  const store = new Store(folder, { compact: 8 });
  await store.open(() => [{ op: 'x' }, { op: 'y' }]);
  await store.append({ op: 'g' });
  await store.append({ op: 'h' });
  assert.deepEqual(await new Store(folder).open(), [{ op: 'x' }, { op: 'y' }]);
});
