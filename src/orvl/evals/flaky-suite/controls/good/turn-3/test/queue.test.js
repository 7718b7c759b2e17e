'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { Queue } = require('../src/queue');
const { ManualClock, noStore } = require('./helpers');

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

test('a new mail is queued', async () => {
  const { queue } = emptyQueue();
  const { mail: made, isNew } = await queue.add(mail(500));
  assert.ok(isNew);
  assert.deepEqual([made.state, made.attempts, made.key], ['queued', 0, null]);
  assert.equal(queue.get(made.id), made);
});

test('the same key is the same mail', async () => {
  const { queue } = emptyQueue();
  const first = await queue.add(mail(0, { key: 'a' }));
  const second = await queue.add(mail(900, { key: 'a' }));
  assert.equal(second.isNew, false);
  assert.equal(second.mail, first.mail);
});

test('the same key in the same moment is the same mail', async () => {
  const { queue } = emptyQueue();
  const added = await Promise.all([1, 2, 3].map((due) => queue.add(mail(due, { key: 'a' }))));
  assert.deepEqual(added.map(({ isNew }) => isNew), [true, false, false]);
  assert.equal(new Set(added.map((one) => one.mail.id)).size, 1);
  assert.equal(queue.list().length, 1);
});

test('a mail that could not be written can be added again', async () => {
  const { queue } = emptyQueue();
  const { append } = queue.store;
  queue.store.append = async () => {
    throw new Error('the disk is full');
  };
  await assert.rejects(queue.add(mail(0, { key: 'a' })), /full/);
  queue.store.append = append;
  assert.equal((await queue.add(mail(0, { key: 'a' }))).isNew, true);
});

test('what is due comes in order', async () => {
  const { clock, queue } = await queueOfThree();
  assert.deepEqual(queue.due(clock.now()).map((one) => one.key), ['late', 'a', null]);
});

test('what is cancelled is not due any more', async () => {
  const { clock, queue } = await queueOfThree();
  const [first] = queue.due(clock.now());
  queue.cancel(first.id);
  assert.equal(queue.due(clock.now()).length, 2);
  assert.throws(() => queue.cancel(first.id), { name: 'Refused', status: 409 });
});

test('it can be counted', async () => {
  const { queue } = await queueOfThree();
  queue.cancel(queue.list()[1].id);
  assert.deepEqual(queue.counts(), { queued: 2, sent: 0, failed: 0, cancelled: 1 });
});

test('it can be made again from its entries', async () => {
  const { clock, queue } = await queueOfThree();
  const other = new Queue(noStore(), clock);
  for (const entry of queue.entries()) other.replay(entry);
  assert.deepEqual(other.list(), queue.list());
  other.replay({ op: 'state', id: 'm-unknown', changes: { state: 'sent' } });
  assert.deepEqual(other.counts(), queue.counts());
});

test('an unknown mail is refused', () => {
  const { queue } = emptyQueue();
  assert.throws(() => queue.get('m-none'), { name: 'Refused', status: 404 });
  assert.throws(() => queue.list('lost'), { name: 'Refused', status: 400 });
});
