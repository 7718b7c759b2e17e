'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const { Queue } = require('../src/queue');
const { ManualClock, noStore } = require('./helpers');

const clock = new ManualClock(Date.UTC(2026, 4, 4, 8));
const queue = new Queue(noStore(), clock);
const mail = (due, more = {}) => ({ to: 'ada@larch.example', template: 'welcome', due: clock.now() + due, ...more });

test('a new mail is queued', async () => {
  const { mail: made, isNew } = await queue.add(mail(500));
  assert.ok(isNew);
  assert.deepEqual([made.state, made.attempts, made.key], ['queued', 0, null]);
  assert.equal(queue.get(made.id), made);
});

test('the same key is the same mail', async () => {
  const first = await queue.add(mail(0, { key: 'a' }));
  const second = await queue.add(mail(900, { key: 'a' }));
  assert.equal(second.isNew, false);
  assert.equal(second.mail, first.mail);
});

test('what is due comes in order', async () => {
  await queue.add(mail(-100, { key: 'late' }));
  clock.advance(500);
  assert.deepEqual(queue.due(clock.now()).map((one) => one.key), ['late', 'a', null]);
});

test('what is cancelled is not due any more', () => {
  const [first] = queue.due(clock.now());
  queue.cancel(first.id);
  assert.equal(queue.due(clock.now()).length, 2);
  assert.throws(() => queue.cancel(first.id), { name: 'Refused', status: 409 });
});

test('it can be counted', () => {
  assert.deepEqual(queue.counts(), { queued: 2, sent: 0, failed: 0, cancelled: 1 });
});

test('it can be made again from its entries', () => {
  const other = new Queue(noStore(), clock);
  for (const entry of queue.entries()) other.replay(entry);
  assert.deepEqual(other.list(), queue.list());
  other.replay({ op: 'state', id: 'm-unknown', changes: { state: 'sent' } });
  assert.deepEqual(other.counts(), queue.counts());
});

test('an unknown mail is refused', () => {
  assert.throws(() => queue.get('m-none'), { name: 'Refused', status: 404 });
  assert.throws(() => queue.list('lost'), { name: 'Refused', status: 400 });
});
