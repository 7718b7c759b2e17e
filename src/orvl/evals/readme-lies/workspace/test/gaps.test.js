'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

const ROWS = [
  '2026-03-05T12:00:00Z,web,3000,full,attic',
  '2026-03-06T14:00:00Z,web,3000,full,attic',
  '2026-03-08T12:00:00Z,web,3000,incr,attic',
];

test('gaps, the last of which goes on', () => {
  const coffer = site('[web]\n', ROWS);
  assert.deepEqual(coffer('gaps'), {
    out: 'web  2026-03-06 14:00  2026-03-08 12:00  46h\nweb  2026-03-08 12:00  now               48h\n',
    err: '',
    status: 1,
  });
  assert.deepEqual(coffer('gaps', '--over', '3d'), { out: '', err: '', status: 0 });
});
