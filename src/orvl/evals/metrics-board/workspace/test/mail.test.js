'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { folder, run } = require('./helpers');

const SHOP = JSON.stringify({ name: 'Test', zone: 'Europe/Berlin' });
const VISITS = 'hour,visits\n2026-05-05T09:00Z,40\n2026-05-05T10:00Z,2\n2026-04-28T10:00Z,9\n';
const OLD = 'Order,Created,Gross,Status,Note\n';

test('has a line a day, the week, and the week before', () => {
  const place = folder({
    'shop.json': SHOP,
    'visits.csv': VISITS,
    'orders-2026-05.csv': `${OLD}1,2026-05-05 10:00,12.50,paid,\n2,2026-05-05 11:00,7.50,cancelled,"too late, sorry"\n`,
    'orders-2026-04.csv': `${OLD}3,2026-04-30 10:00,25.00,shipped,\n`,
  });
  const lines = run('mail.js', '--data', place, '--week', '2026-W19').stdout.split('\n');
  assert.strictEqual(lines[0], 'Good morning! Test, week 2026-W19');
  assert.strictEqual(lines[4], 'Tue 2026-05-05       1  12.50      42');
  assert.strictEqual(lines[10], 'week                 1  12.50      42');
  assert.strictEqual(lines[11], 'before               1  25.00       9');
  assert.strictEqual(lines[13], 'Sales are down by 50 %.');
});

test('reads the new header', () => {
  const place = folder({
    'shop.json': SHOP,
    'visits.csv': VISITS,
    'orders-2026-07.csv':
      '\ufeffOrder ID,Placed (UTC),State,Customer note,Total (EUR)\n9,2026-07-07T08:15:00Z,PAID,,31.00\n',
  });
  const { stdout } = run('mail.js', '--data', place, '--week', '2026-W28');
  assert.match(stdout, /^Tue 2026-07-07 +1 +31\.00 +0$/m);
  assert.match(stdout, /Nothing to compare with\.\n$/);
});

test('says what is wrong', () => {
  const ended = run('mail.js', '--data', 'nowhere', '--week', '2026-W28');
  assert.strictEqual(ended.status, 2);
  assert.match(ended.stderr, /^mail: cannot read nowhere/);
});
