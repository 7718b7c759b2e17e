'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { plan, afterQuiet } = require('../src/planner');

const BERLIN = 'Europe/Berlin';
const QUIET = { from: '21:00', to: '07:00' };
const HOUR = 60 * 60 * 1000;

const iso = (at) => new Date(at).toISOString();

test('without a time it is now', () => {
  assert.equal(plan(undefined, 1234, BERLIN), 1234);
});

test('a moment is a moment, and the past is now', () => {
  const now = Date.parse('2026-05-04T10:00Z');
  assert.equal(iso(plan('2026-05-04T14:30+02:00', now, BERLIN)), '2026-05-04T12:30:00.000Z');
  assert.equal(plan('2026-05-03T10:00Z', now, BERLIN), now);
});

test('what is due in half an hour is due in half an hour', () => {
  for (const now of [Date.UTC(2026, 4, 4, 12), Date.UTC(2026, 4, 4, 23, 45)]) {
    assert.equal(plan(iso(now + HOUR / 2), now, 'UTC'), now + HOUR / 2);
  }
});

test('tomorrow at eight', () => {
  assert.equal(iso(plan('tomorrow 08:00', Date.UTC(2026, 4, 4, 12), 'UTC')), '2026-05-05T08:00:00.000Z');
  assert.equal(iso(plan('tomorrow 08:00', Date.UTC(2026, 4, 31, 23), BERLIN)), '2026-06-02T06:00:00.000Z');
  assert.equal(iso(plan('tomorrow 08:00', Date.UTC(2026, 2, 28, 12), BERLIN)), '2026-03-29T06:00:00.000Z');
});

test('next at eight is today or tomorrow', () => {
  const morning = Date.UTC(2026, 4, 4, 5);
  assert.equal(iso(plan('next 08:00', morning, 'UTC')), '2026-05-04T08:00:00.000Z');
  assert.equal(iso(plan('next 08:00', morning + 4 * HOUR, 'UTC')), '2026-05-05T08:00:00.000Z');
  assert.equal(iso(plan('next 08:00', Date.UTC(2026, 4, 4, 6), BERLIN)), '2026-05-05T06:00:00.000Z');
});

test('workdays leave out the weekend', () => {
  const friday = Date.UTC(2026, 4, 8, 9);
  assert.equal(iso(plan('workday 08:00', friday, BERLIN)), '2026-05-11T06:00:00.000Z');
  assert.equal(iso(plan('workday 12:00', friday, BERLIN)), '2026-05-08T10:00:00.000Z');
});

test('a day of the month', () => {
  assert.equal(iso(plan('monthly 15 00:00', Date.UTC(2026, 4, 15), 'UTC')), '2026-06-15T00:00:00.000Z');
  assert.equal(iso(plan('monthly 15 00:00', Date.UTC(2026, 11, 20), 'UTC')), '2027-01-15T00:00:00.000Z');
});

test('short months end earlier', () => {
  assert.equal(iso(plan('monthly 31 09:00', Date.UTC(2026, 1, 3), 'UTC')), '2026-02-28T09:00:00.000Z');
  assert.equal(iso(plan('monthly 31 09:00', Date.UTC(2026, 11, 31, 12), 'UTC')), '2027-01-31T09:00:00.000Z');
});

test('nobody is woken up', () => {
  const at = (text) => iso(afterQuiet(Date.parse(text), QUIET, BERLIN));
  assert.equal(at('2026-05-04T18:59Z'), '2026-05-04T18:59:00.000Z');
  assert.equal(at('2026-05-04T19:00Z'), '2026-05-05T05:00:00.000Z');
  assert.equal(at('2026-05-04T22:30Z'), '2026-05-05T05:00:00.000Z');
  assert.equal(at('2026-05-04T04:59Z'), '2026-05-04T05:00:00.000Z');
  assert.equal(at('2026-05-04T05:00Z'), '2026-05-04T05:00:00.000Z');
});

test('quiet hours may be at noon, or not at all', () => {
  const noon = { from: '12:00', to: '13:00' };
  assert.equal(iso(afterQuiet(Date.UTC(2026, 4, 4, 12, 30), noon, 'UTC')), '2026-05-04T13:00:00.000Z');
  assert.equal(afterQuiet(5, null, 'UTC'), 5);
});

test('what nobody understands is refused', () => {
  for (const when of ['soon', 'tomorrow', 'tomorrow 24:00', 'next 8:00', 'monthly 32 08:00', 'monthly x 08:00', 'constructor 08:00', 7]) {
    assert.throws(() => plan(when, 0, BERLIN), { name: 'Refused' }, String(when));
  }
});
