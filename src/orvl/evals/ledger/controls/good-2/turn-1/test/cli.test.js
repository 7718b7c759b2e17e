'use strict';

const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { folder, tally } = require('./helpers');

test('help and unknown words', (t) => {
  const data = folder();
  assert.strictEqual(tally(data, 'balances', '--help').status, 0);
  assert.strictEqual(tally(data, 'dance').status, 2);
  assert.strictEqual(tally(data, 'balances', '--loud').status, 2);
});

test('an entry from a file', (t) => {
  const data = folder();
  const file = path.join(data, 'entry.json');
  const lines = [
    { account: 'bank', amount: '-900.00' },
    { account: 'suspense', amount: '900.00' },
  ];
  fs.writeFileSync(file, JSON.stringify({ date: '2024-03-01', memo: 'rent', lines }));
  const posted = tally(data, 'post', file);
  assert.strictEqual(posted.status, 0, posted.stderr);
  assert.strictEqual(JSON.parse(posted.stdout).id, 1);
  assert.match(tally(data, 'entries').stdout, /rent/);
  assert.match(tally(data, 'trial').stdout, /^sum +0\.00 +EUR$/m);
  assert.match(tally(data, 'statement', 'bank').stdout, /-900\.00/);
  assert.match(tally(data, 'rebuild').stdout, /^1 entries/);
});
