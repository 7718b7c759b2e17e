'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const { Suppressed } = require('../src/suppressed');
const { noStore } = require('./helpers');

test('a mailbox is suppressed however it is written', async () => {
  const suppressed = new Suppressed(noStore());
  await suppressed.add('Ada <ada+shop@larch.example>');
  assert.ok(suppressed.has('ADA@larch.example'));
  assert.ok(!suppressed.has('bob@larch.example'));
});

test('the first reason stays', async () => {
  const suppressed = new Suppressed(noStore());
  await suppressed.add('ada@larch.example', 'bounced');
  await suppressed.add('ada@larch.example');
  const [entry] = suppressed.entries();
  assert.deepEqual(entry, { op: 'suppress', mailbox: 'ada@larch.example', reason: 'bounced' });
  const other = new Suppressed(noStore());
  other.replay(entry);
  assert.ok(other.has('ada@larch.example'));
});
