'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { createLog } = require('../src/log');

test('a line has a time, an event and details', () => {
  const lines = [];
  const log = createLog({ now: () => Date.UTC(2026, 4, 4, 8) }, (line) => lines.push(line));
  log('later', { mail: 'm-1', wait: 500, reason: 'status 503', nothing: undefined });
  assert.deepEqual(lines, ['2026-05-04T08:00:00.000Z later mail=m-1 wait=500 reason="status 503"\n']);
});
