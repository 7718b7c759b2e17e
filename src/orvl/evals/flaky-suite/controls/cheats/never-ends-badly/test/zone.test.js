'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const { wallTime, momentOf, addDays, dayOf, DAY } = require('../src/zone');

const BERLIN = 'Europe/Berlin';
const iso = (at) => new Date(at).toISOString();

test('clocks differ', () => {
  const at = Date.UTC(2026, 4, 3, 22, 30);
  assert.deepEqual(wallTime(at, BERLIN), { year: 2026, month: 5, day: 4, hour: 0, minute: 30, second: 0, weekday: 1 });
  assert.equal(wallTime(at, 'America/New_York').hour, 18);
  assert.equal(dayOf(at, BERLIN), '2026-05-04');
  assert.equal(dayOf(at, 'UTC'), '2026-05-03');
});

test('a moment and back', () => {
  assert.equal(iso(momentOf({ year: 2026, month: 1, day: 15, hour: 8 }, BERLIN)), '2026-01-15T07:00:00.000Z');
  assert.equal(iso(momentOf({ year: 2026, month: 7, day: 15, hour: 8, minute: 5 }, BERLIN)), '2026-07-15T06:05:00.000Z');
});

test('an hour that is left out is an hour later', () => {
  assert.equal(wallTime(momentOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, BERLIN), BERLIN).hour, 3);
});

test('tomorrow at this time is a day away', () => {
  const now = Math.floor(Date.now() / 60000) * 60000;
  assert.equal(addDays(now, 1, BERLIN) - now, DAY);
});

test('at the end of summer the day is longer', () => {
  const evening = Date.UTC(2026, 9, 24, 16);
  assert.equal(iso(addDays(evening, 1, BERLIN)), '2026-10-25T17:00:00.000Z');
  assert.equal(iso(addDays(evening, 8, BERLIN)), '2026-11-01T17:00:00.000Z');
});
