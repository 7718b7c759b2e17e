'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const { Digest } = require('../src/digest');
const { Queue } = require('../src/queue');
const { ManualClock, noStore } = require('./helpers');

const DAY = 24 * 60 * 60 * 1000;

function parts() {
  const clock = new ManualClock();
  const digest = new Digest(noStore(), { zone: 'Europe/Berlin', time: '08:00', clock });
  return { clock, digest, queue: new Queue(noStore(), clock) };
}

test('lines wait for the next morning', async () => {
  const { clock, digest, queue } = parts();
  const due = await digest.add('ada@larch.example', 'the first');
  assert.ok(due > clock.now() && due <= clock.now() + DAY);
  await digest.close(queue);
  assert.equal(queue.list().length, 0);
});

test('a person gets one mail with all lines', async () => {
  const { clock, digest, queue } = parts();
  await digest.add('ada@larch.example', 'the first');
  await digest.add('Ada <ADA+news@larch.example>', 'the second');
  await digest.add('bob@larch.example', 'another');
  clock.advance(DAY);
  await digest.close(queue);
  const [ada, bob] = queue.list();
  assert.equal(ada.template, 'digest');
  assert.deepEqual(ada.data, { count: 2, lines: [{ line: 'the first' }, { line: 'the second' }] });
  assert.equal(bob.data.count, 1);
  assert.equal(queue.list().length, 2);
});

test('a digest belongs to its day', async () => {
  const { clock, digest, queue } = parts();
  await digest.add('ada@larch.example', 'the first');
  const tomorrow = new Date(Date.now() + DAY).toISOString().slice(0, 10);
  clock.advance(DAY);
  await digest.close(queue);
  const today = new Date().toISOString().slice(0, 10);
  const { key } = queue.list()[0];
  assert.ok([`digest:ada@larch.example:${today}`, `digest:ada@larch.example:${tomorrow}`].includes(key), key);
});

test('what comes later is in the next one', async () => {
  const { clock, digest, queue } = parts();
  await digest.add('ada@larch.example', 'the first');
  clock.advance(DAY);
  await digest.close(queue);
  await digest.add('ada@larch.example', 'the second');
  await digest.close(queue);
  assert.equal(queue.list().length, 1);
  clock.advance(DAY);
  await digest.close(queue);
  assert.deepEqual(queue.list().map((mail) => mail.data.lines[0].line), ['the first', 'the second']);
});
