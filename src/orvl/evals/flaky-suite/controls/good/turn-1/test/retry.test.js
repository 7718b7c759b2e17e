'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { retryDelay, isLastTry } = require('../src/retry');

const RETRY = { first: 100, factor: 3, most: 2000, jitter: 0.2, tries: 6 };

test('delays grow', () => {
  for (const [failures, plain] of [[1, 100], [2, 300], [3, 900]]) {
    assert.equal(retryDelay(failures, RETRY, () => 0), plain);
    assert.equal(retryDelay(failures, RETRY, () => 0.5), Math.round(plain * 1.1));
  }
});

test('delays do not grow for ever', () => {
  assert.equal(retryDelay(9, RETRY, () => 0), 2000);
  assert.equal(retryDelay(9, RETRY, () => 1), 2400);
});

test('not everybody comes back at once', () => {
  assert.equal(retryDelay(1, RETRY, () => 0), 100);
  assert.equal(retryDelay(1, RETRY, () => 1), 120);
});

test('some time it is over', () => {
  assert.equal(isLastTry(5, RETRY), false);
  assert.equal(isLastTry(6, RETRY), true);
});
