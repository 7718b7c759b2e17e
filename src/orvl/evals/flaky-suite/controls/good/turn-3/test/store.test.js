'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { Store } = require('../src/store');
const { ManualClock, temporaryFolder } = require('./helpers');

const linesOf = (folder) => fs.readFileSync(path.join(folder, 'journal.jsonl'), 'utf8').trim().split('\n').length;

/** A store in which there is something already. */
async function used(t, settings) {
  const folder = temporaryFolder(t);
  const store = new Store(folder, settings);
  await store.open();
  await store.append({ op: 'a', text: 'ü\n' });
  await store.append({ op: 'b' });
  return { folder, store };
}

test('a new store is empty', async (t) => {
  assert.deepEqual(await new Store(temporaryFolder(t)).open(), []);
});

test('what was appended is there again', async (t) => {
  const { folder } = await used(t);
  assert.deepEqual(await new Store(folder).open(), [{ op: 'a', text: 'ü\n' }, { op: 'b' }]);
});

test('notes come a little later', async (t) => {
  const clock = new ManualClock();
  const { folder, store } = await used(t, { lag: 20, clock });
  store.note({ op: 'c' });
  store.note({ op: 'd' });
  await clock.advance(19);
  assert.equal(linesOf(folder), 2);
  await clock.advance(1);
  assert.equal(linesOf(folder), 4);
});

test('closing writes what was noted', async (t) => {
  const { folder, store } = await used(t, { lag: 60000 });
  store.note({ op: 'e' });
  await store.close();
  assert.equal((await new Store(folder).open()).length, 3);
});

test('a line that is not whole is no entry', async (t) => {
  const { folder } = await used(t);
  fs.appendFileSync(path.join(folder, 'journal.jsonl'), '{"op":"f"}\n{"op":');
  const entries = await new Store(folder).open();
  assert.deepEqual(entries.map((entry) => entry.op).join(''), 'abf');
});

test('what is written after half a line is there again', async (t) => {
  const { folder } = await used(t);
  fs.appendFileSync(path.join(folder, 'journal.jsonl'), '{"op":');
  const store = new Store(folder);
  await store.open();
  await store.append({ op: 'c' });
  assert.equal((await new Store(folder).open()).map((entry) => entry.op).join(''), 'abc');
});

test('nothing is lost while the journal is written anew', async (t) => {
  const live = [];
  const store = new Store(temporaryFolder(t), { compact: 3 });
  await store.open(() => live);
  const entries = Array.from({ length: 20 }, (_, number) => ({ op: 'x', number }));
  await Promise.all(entries.map((entry) => store.append(entry, () => live.push(entry))));
  assert.deepEqual(await new Store(store.folder).open(), entries);
});

test('a long journal is written anew', async (t) => {
  const { folder } = await used(t);
  const store = new Store(folder, { compact: 4 });
  await store.open(() => [{ op: 'x' }, { op: 'y' }]);
  await store.append({ op: 'g' });
  await store.append({ op: 'h' });
  assert.deepEqual(await new Store(folder).open(), [{ op: 'x' }, { op: 'y' }]);
});
