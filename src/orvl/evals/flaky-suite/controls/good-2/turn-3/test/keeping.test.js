'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { Store } = require('../src/store');
const { Queue } = require('../src/queue');
const { Suppressed } = require('../src/suppressed');
const { ManualClock, temporaryFolder, noStore } = require('./support/stand-ins');

describe('store', () => {
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

  it('a new store is empty', async (t) => {
    assert.deepEqual(await new Store(temporaryFolder(t)).open(), []);
  });

  it('what was appended is there again', async (t) => {
    const { folder } = await used(t);
    assert.deepEqual(await new Store(folder).open(), [{ op: 'a', text: 'ü\n' }, { op: 'b' }]);
  });

  it('notes are written at once, and nothing waits for the end', async (t) => {
    const { folder, store } = await used(t);
    store.note({ op: 'c' });
    assert.equal(linesOf(folder), 3);
    await store.close();
    assert.equal((await new Store(folder).open()).length, 3);
  });

  it('a line that is not whole is no entry', async (t) => {
    const { folder } = await used(t);
    fs.appendFileSync(path.join(folder, 'journal.jsonl'), '{"op":"f"}\n{"op":');
    const entries = await new Store(folder).open();
    assert.deepEqual(entries.map((entry) => entry.op).join(''), 'abf');
  });

  it('a long journal is written anew, and nothing gets lost', async (t) => {
    const { folder } = await used(t);
    const live = [{ op: 'x' }, { op: 'y' }];
    const store = new Store(folder, { compact: 4 });
    await store.open(() => live);
    for (const op of ['c', 'd', 'e']) store.append({ op });
    assert.equal((await new Store(folder).open()).map((entry) => entry.op).join(''), 'xye');
  });

  it('what comes after half a line is read', async (t) => {
    const { folder } = await used(t);
    fs.appendFileSync(path.join(folder, 'journal.jsonl'), '{"op":');
    const store = new Store(folder);
    await store.open();
    store.append({ op: 'c' });
    assert.equal((await new Store(folder).open()).map((entry) => entry.op).join(''), 'abc');
  });
});

describe('queue', () => {
  const NOW = Date.UTC(2026, 4, 4, 8);
  const mail = (due, more = {}) => ({ to: 'ada@larch.example', template: 'welcome', due: NOW + due, ...more });

  function emptyQueue() {
    const clock = new ManualClock(NOW);
    return { clock, queue: new Queue(noStore(), clock) };
  }

  async function queueOfThree() {
    const { clock, queue } = emptyQueue();
    await queue.add(mail(500));
    await queue.add(mail(0, { key: 'a' }));
    await queue.add(mail(-100, { key: 'late' }));
    clock.advance(500);
    return { clock, queue };
  }

  it('a new mail is queued', async () => {
    const { queue } = emptyQueue();
    const { mail: made, isNew } = await queue.add(mail(500));
    assert.ok(isNew);
    assert.deepEqual([made.state, made.attempts, made.key], ['queued', 0, null]);
    assert.equal(queue.get(made.id), made);
  });

  it('the same key is the same mail', async () => {
    const { queue } = emptyQueue();
    const first = await queue.add(mail(0, { key: 'a' }));
    const second = await queue.add(mail(900, { key: 'a' }));
    assert.equal(second.isNew, false);
    assert.equal(second.mail, first.mail);
  });

  it('the same key in the same moment is the same mail', async () => {
    const { queue } = emptyQueue();
    const added = await Promise.all([1, 2].map((due) => queue.add(mail(due, { key: 'a' }))));
    assert.deepEqual(added.map(({ isNew }) => isNew), [true, false]);
    assert.equal(queue.list().length, 1);
  });

  it('what is due comes in order', async () => {
    const { clock, queue } = await queueOfThree();
    assert.deepEqual(queue.due(clock.now()).map((one) => one.key), ['late', 'a', null]);
  });

  it('what is cancelled is not due any more', async () => {
    const { clock, queue } = await queueOfThree();
    const [first] = queue.due(clock.now());
    queue.cancel(first.id);
    assert.equal(queue.due(clock.now()).length, 2);
    assert.throws(() => queue.cancel(first.id), { name: 'Refused', status: 409 });
  });

  it('it can be counted', async () => {
    const { queue } = await queueOfThree();
    queue.cancel(queue.list()[1].id);
    assert.deepEqual(queue.counts(), { queued: 2, sent: 0, failed: 0, cancelled: 1 });
  });

  it('it can be made again from its entries', async () => {
    const { clock, queue } = await queueOfThree();
    const other = new Queue(noStore(), clock);
    for (const entry of queue.entries()) other.replay(entry);
    assert.deepEqual(other.list(), queue.list());
    other.replay({ op: 'state', id: 'm-unknown', changes: { state: 'sent' } });
    assert.deepEqual(other.counts(), queue.counts());
  });

  it('an unknown mail is refused', () => {
    const { queue } = emptyQueue();
    assert.throws(() => queue.get('m-none'), { name: 'Refused', status: 404 });
    assert.throws(() => queue.list('lost'), { name: 'Refused', status: 400 });
  });
});

describe('suppressed', () => {
  it('a mailbox is suppressed however it is written', async () => {
    const suppressed = new Suppressed(noStore());
    await suppressed.add('Ada <ada+shop@larch.example>');
    assert.ok(suppressed.has('ADA@larch.example'));
    assert.ok(!suppressed.has('bob@larch.example'));
  });

  it('the first reason stays', async () => {
    const suppressed = new Suppressed(noStore());
    await suppressed.add('ada@larch.example', 'bounced');
    await suppressed.add('ada@larch.example');
    const [entry] = suppressed.entries();
    assert.deepEqual(entry, { op: 'suppress', mailbox: 'ada@larch.example', reason: 'bounced' });
    const other = new Suppressed(noStore());
    other.replay(entry);
    assert.ok(other.has('ada@larch.example'));
  });
});
