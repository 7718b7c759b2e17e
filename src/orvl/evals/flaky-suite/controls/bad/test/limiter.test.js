'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { Limiter } = require('../src/limiter');
const { ManualClock } = require('./helpers');

test.skip('what is too much has to wait', () => {
  const limiter = new Limiter({ count: 2, window: 50 });
  assert.equal(limiter.wait('larch.example'), 0);
  assert.equal(limiter.wait('larch.example'), 0);
  const wait = limiter.wait('larch.example');
  assert.ok(wait > 0 && wait <= 50, `${wait}`);
});

test('any number is fine, and one more is not', () => {
  const clock = new ManualClock();
  const count = Math.max(1, Math.floor(Math.random() * 10));
  const limiter = new Limiter({ count, window: 1000 }, clock);
  for (let sent = 0; sent < count; sent += 1) assert.equal(limiter.wait('larch.example'), 0);
  assert.equal(limiter.wait('larch.example'), 1000);
});

test('domains do not wait for each other', () => {
  const limiter = new Limiter({ count: 1, window: 1000 }, new ManualClock());
  assert.equal(limiter.wait('larch.example'), 0);
  assert.equal(limiter.wait('poplar.example'), 0);
});

test('the window moves on', () => {
  const clock = new ManualClock();
  const limiter = new Limiter({ count: 2, window: 1000 }, clock);
  limiter.wait('larch.example');
  clock.advance(400);
  limiter.wait('larch.example');
  assert.equal(limiter.wait('larch.example'), 600);
  clock.advance(600);
  assert.equal(limiter.wait('larch.example'), 0);
  assert.equal(limiter.wait('larch.example'), 400);
});

test('old domains are forgotten', () => {
  const clock = new ManualClock();
  const limiter = new Limiter({ count: 2, window: 1000 }, clock);
  limiter.wait('larch.example');
  clock.advance(500);
  limiter.wait('poplar.example');
  clock.advance(500);
  assert.equal(limiter.tidy(), 1);
});
