'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { folder, run } = require('./helpers');

const SHOP = JSON.stringify({ name: 'Tea & Co', zone: 'Europe/Berlin' });
const HEAD = 'Order ID,Placed (UTC),State,Customer note,Total (EUR)';
const FILES = {
  'shop.json': SHOP,
  'visits.csv': 'hour,visits\n2026-10-18T22:00Z,40\n',
  'refunds.csv': 'Refund;Order;Paid out;Amount;Status\nR1;1;19.10.2026 10:00;2,50;done\n',
  'orders-2026-10.csv': `\ufeff${HEAD}\r\n1,2026-10-18T22:10:00Z,PAID,"two\r\nlines","1,012.50"\r\n`,
};

function built(files, ...more) {
  const data = folder(files);
  const out = path.join(data, 'out');
  return { out, ended: run('build.js', '--data', data, '--out', out, '--week', '2026-W43', ...more) };
}

test('counts by the clock on the wall', () => {
  const { out, ended } = built(FILES);
  assert.strictEqual(ended.status, 0);
  const [, monday] = fs.readFileSync(path.join(out, '{{download}}'), 'utf8').split('\n');
  assert.strictEqual(monday, '2026-10-19,1,1012.50,2.50,1010.00,40,2.5');
  assert.match(fs.readFileSync(path.join(out, 'index.html'), 'utf8'), /<h1>Tea &amp; Co, week 2026-W43<\/h1>/);
});

test('leaves the page alone when an export is broken', () => {
  const { out, ended } = built({ ...FILES, 'visits.csv': 'when,visits\n' });
  assert.strictEqual(ended.status, 1);
  assert.match(ended.stderr, /visits\.csv/);
  assert.ok(!fs.existsSync(out));
});

test('refuses a week that the year does not have', () => {
  assert.strictEqual(run('build.js', '--data', 'data', '--out', 'x', '--week', '2025-W53').status, 2);
});
