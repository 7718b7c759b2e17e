'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { retryDelay, isLastTry } = require('../src/retry');

const RETRY = { first: 100, factor: 3, most: 2000, jitter: 0.2, tries: 6 };

test('delays grow', () => {
  for (const [failures, plain] of [[1, 100], [2, 300], [3, 900]]) {
    const delay = retryDelay(failures, RETRY);
    assert.ok(delay >= plain && delay <= plain * 1.2, `${failures}: ${delay}`);
  }
});

test('delays do not grow for ever', () => {
  const delay = retryDelay(9, RETRY);
  assert.ok(delay >= 2000 && delay <= 2400, `${delay}`);
});

test('not everybody comes back at once', () => {
  assert.equal(retryDelay(1, RETRY, () => 0), 100);
  assert.equal(retryDelay(1, RETRY, () => 1), 120);
});

test('some time it is over', () => {
  assert.equal(isLastTry(5, RETRY), false);
  assert.equal(isLastTry(6, RETRY), true);
});
