'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

test('a job without backups is missing', () => {
  const { out, status } = site('[web]\n', [])('check');
  assert.equal(out, 'web  missing  -  -\n');
  assert.equal(status, 1);
});

test('a job is late when every and grace are over', () => {
  const rows = ['2026-03-09T10:00:00Z,web,1048576,full,attic', '2026-03-09T09:59:59Z,db,1048576,full,attic'];
  const { out, status } = site('[web]\n[db]\n', rows)('check');
  assert.equal(out, 'web  ok    26h  1.0 MiB\ndb   late  26h  1.0 MiB  allowed 26h\n');
  assert.equal(status, 1);
});

test('a shrunk job is a warning, unless it is taken seriously', () => {
  const rows = ['2026-03-09T12:00:00Z,web,4096,full,attic', '2026-03-10T11:00:00Z,web,2047,full,attic'];
  const coffer = site('[web]\nshrink = 75%\n', rows);
  assert.deepEqual(coffer('check'), { out: 'web  shrunk  1h  2 KiB  before 4 KiB\n', err: '', status: 0 });
  assert.equal(coffer('check', '--strict').status, 1);
});

test('an incremental backup is compared with incremental ones', () => {
  const rows = [
    '2026-03-08T12:00:00Z,web,2048,incr,attic',
    '2026-03-09T12:00:00Z,web,999999,full,attic',
    '2026-03-10T11:00:00Z,web,2048,incr,attic',
  ];
  assert.equal(site('[web]\n', rows)('check').out, 'web  ok  1h  2 KiB\n');
});

test('--quiet leaves out what is ok', () => {
  const coffer = site('[web]\n[db]\n', ['2026-03-10T11:59:00Z,web,1,full,attic']);
  assert.equal(coffer('check', '--quiet').out, 'db  missing  -  -\n');
  assert.equal(coffer('check', '--quiet', 'web').out, '');
});

test('names are jobs of the plan, in its order', () => {
  const coffer = site('[web]\n[db]\n[mail]\n', []);
  assert.equal(coffer('check', 'mail', 'web').out, 'web   missing  -  -\nmail  missing  -  -\n');
  assert.deepEqual(coffer('check', 'nobody'), {
    out: '',
    err: "coffer: there is no job 'nobody' in the plan.\n",
    status: 2,
  });
});
