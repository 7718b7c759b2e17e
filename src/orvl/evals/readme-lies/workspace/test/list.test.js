'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

const ROWS = [
  '2026-03-08T12:00:00Z,web,2048,incr,attic',
  '2026-03-09T12:00:00Z,gone,999999,full,cellar',
  '2026-03-10T11:00:00Z,web,2048,incr,attic',
  '2026-03-10T12:00:01Z,web,2048,incr,attic',
];
const coffer = site('[web]\n', ROWS);

test('the newest is first, and what is still to come is left out', () => {
  assert.equal(
    coffer('list').out,
    '2026-03-10 11:00  web   incr    2 KiB  attic\n' +
      '2026-03-09 12:00  gone  full  977 KiB  cellar\n' +
      '2026-03-08 12:00  web   incr    2 KiB  attic\n',
  );
});

test('by job, vault, time and number', () => {
  assert.equal(coffer('list', 'gone').out, '2026-03-09 12:00  gone  full  977 KiB  cellar\n');
  assert.equal(coffer('list', '--vault', 'cellar').out, '2026-03-09 12:00  gone  full  977 KiB  cellar\n');
  assert.equal(coffer('list', '--after=2026-03-09 12:00').out, '2026-03-10 11:00  web  incr  2 KiB  attic\n');
  assert.equal(coffer('list', '--last', '1', 'web').out, '2026-03-10 11:00  web  incr  2 KiB  attic\n');
});

test('nothing found', () => {
  assert.deepEqual(coffer('list', 'nobody'), { out: '', err: '', status: 1 });
});

test('wrong values are refused', () => {
  for (const args of [['--last', '0'], ['--last', 'two'], ['--after', 'monday'], ['--after', '2026-02-30']]) {
    assert.equal(coffer('list', ...args).status, 2, args.join(' '));
  }
});
