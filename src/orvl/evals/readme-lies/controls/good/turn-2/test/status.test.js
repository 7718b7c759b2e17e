'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

test('only --strict tells a missing job apart', () => {
  const coffer = site('[web]\n[db]\n', ['2026-03-01T10:00:00Z,web,1048576,full,attic']);
  assert.equal(coffer('check').status, 1);
  assert.equal(coffer('check', '--strict').status, 3);
  assert.equal(coffer('check', '--strict', '--json').status, 3);
  assert.equal(coffer('check', '--strict', 'web').status, 1);
});
