'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { sentByDay, meanTries } = require('../src/stats');

const at = (text, attempts = 1) => ({ state: 'sent', sent: Date.parse(text), attempts });

test('days are those of the people there', () => {
  const mails = [at('2026-05-03T21:59Z'), at('2026-05-03T22:00Z'), at('2026-05-04T12:00Z'), { state: 'queued' }];
  assert.deepEqual(sentByDay(mails, 'Europe/Berlin'), [
    { day: '2026-05-04', count: 2 },
    { day: '2026-05-03', count: 1 },
  ]);
});

test('today comes first', () => {
  const today = new Date().toISOString().slice(0, 10);
  const mails = [at('2020-01-01T12:00Z'), { state: 'sent', sent: Date.now(), attempts: 1 }];
  assert.equal(sentByDay(mails, 'Europe/Berlin')[0].day, today);
});

test('no more than a week is shown', () => {
  const mails = Array.from({ length: 9 }, (_, day) => at(`2026-05-1${day}T12:00Z`));
  assert.equal(sentByDay(mails, 'UTC').length, 7);
});

test('tries are counted', () => {
  assert.equal(meanTries([at('2026-05-03T21:59Z', 1), at('2026-05-03T22:00Z', 4), { state: 'failed', attempts: 6 }]), 2.5);
  assert.equal(meanTries([]), null);
});
