'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

const ROWS = [
  '2026-03-06T12:00:00Z,web,3000,full,attic',
  '2026-03-07T12:00:00Z,web,3000,full,cellar',
  '2026-03-08T12:00:00Z,web,3000,incr,attic',
  '2026-03-09T12:00:30Z,web,3000,incr,attic',
  '2026-03-01T12:00:00Z,gone,3000,full,attic',
];

test('the newest stay, and the newest full one', () => {
  const coffer = site('[web]\nkeep = 1\n', ROWS);
  assert.deepEqual(coffer('prune'), {
    out: 'attic/web/20260306T120000Z\nattic/web/20260308T120000Z\n',
    err: '',
    status: 0,
  });
  assert.equal(coffer('prune', '--keep', '3').out, 'attic/web/20260306T120000Z\n');
  assert.equal(coffer('prune', '--keep', '0').status, 2);
});
