'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

const ROWS = [
  '2026-03-08T12:00:00Z,web,3000,incr,attic',
  '2026-03-09T12:00:00Z,db,1048576,full,cellar',
  '2026-03-10T11:00:00Z,web,5000,incr,cellar',
];

test('by job, vault and kind', () => {
  const coffer = site('[web]\n', ROWS);
  assert.equal(coffer('sizes').out, 'db     1  1.0 MiB  99%\nweb    2    8 KiB   1%\ntotal  3  1.0 MiB\n');
  assert.equal(coffer('sizes', '--by', 'vault', '--exact').out, 'cellar  2  1029  100%\nattic   1     3    0%\ntotal   3  1032\n');
  assert.equal(coffer('sizes', '--by=kind', 'web').out, 'incr   2  8 KiB  100%\ntotal  2  8 KiB\n');
  assert.equal(coffer('sizes', '--by', 'colour').status, 2);
});

test('old catalogues', () => {
  const coffer = site('[web]\n', ['2026-03-08T12:00:00Z,web,3000,incr,attic'], 'time,job,kb,kind,vault');
  assert.equal(coffer('sizes').out, 'web    1  2.9 MiB  100%\ntotal  1  2.9 MiB\n');
});

test('nothing at all', () => {
  assert.deepEqual(site('[web]\n', [])('sizes'), { out: 'total  0  0 KiB\n', err: '', status: 0 });
});
