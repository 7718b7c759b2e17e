'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

const ROWS = ['2026-03-08T12:00:20Z,web,3000,full,attic', '2026-03-10T11:00:50Z,web,1025,incr,cellar'];
const coffer = site('[web]\nkeep = 1\n[db]\n', ROWS);

function json(...args) {
  const { out, err, status } = coffer(...args, '--json');
  const { command, now, '{{key}}': rows, total } = JSON.parse(out);
  assert.equal(err, '');
  assert.equal(command, args[0]);
  assert.equal(now, '2026-03-10T12:00:00Z');
  return { rows, total, status };
}

test('check', () => {
  const web = { job: 'web', state: 'ok', newest: '2026-03-10T11:00:50Z', age: 59, limit: 1560, size: 1025 };
  const db = { job: 'db', state: 'missing', newest: null, age: null, limit: 1560, size: null };
  assert.deepEqual(json('check'), { rows: [web, db], total: undefined, status: 1 });
  assert.deepEqual(json('check', 'web', '--quiet'), { rows: [], total: undefined, status: 0 });
});

test('list', () => {
  const row = { time: '2026-03-10T11:00:50Z', job: 'web', kind: 'incr', size: 1025, vault: 'cellar' };
  assert.deepEqual(json('list', '--last', '1').rows, [row]);
  assert.deepEqual(json('list', 'nobody'), { rows: [], total: undefined, status: 1 });
});

test('sizes', () => {
  const { rows, total } = json('sizes', '--by', 'kind');
  assert.deepEqual(rows[0], { name: 'full', count: 1, size: 3000, share: 3000 / 4025 });
  assert.equal(total, 4025);
});

test('prune and gaps', () => {
  assert.deepEqual(json('prune'), { rows: [], total: 0, status: 0 });
  const gap = { job: 'web', from: '2026-03-08T12:00:20Z', to: '2026-03-10T11:00:50Z', length: 2820 };
  assert.deepEqual(json('gaps', 'web'), { rows: [gap], total: undefined, status: 1 });
});

test('errors are no JSON', () => {
  assert.deepEqual(coffer('check', 'nobody', '--json').out, '');
});
