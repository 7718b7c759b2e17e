'use strict';

const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { loadConfig } = require('../lib/config');
const plans = require('../lib/plans');
const { Store } = require('../lib/store');
const { ROOT, folder, open, seller } = require('./helpers');

const config = () => loadConfig(path.join(ROOT, 'config'));

test('what was booked is there after a restart', async (t) => {
  const data = folder();
  const first = Store.open(data, config());
  await seller(first, 'seller:ana');
  const sellers = [{ account: 'seller:ana', share: 1 }];
  await first.book(plans.sale, { date: '2024-02-01', order: 'A-1', gross: '100.00', sellers });
  first.close();
  assert.strictEqual(open(t, data).books.owed('seller:ana', 'EUR'), 9595n);
});

test('sales of older versions are worked out', (t) => {
  const data = folder();
  const records = [
    { n: 1, at: '2024-01-01T00:00:00.000Z', do: 'account', id: 'seller:ana', name: 'Ana', kind: 'seller' },
    { n: 2, at: '2024-01-01T00:00:00.000Z', do: 'sale', date: '2024-02-01', order: 'A', gross: '100.00', sellers: [['seller:ana', 1]] },
  ];
  fs.writeFileSync(path.join(data, 'journal.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  assert.strictEqual(open(t, data).books.owed('seller:ana', 'EUR'), 9595n);
});

test('there is one writer', (t) => {
  const data = folder();
  open(t, data);
  assert.throws(() => Store.open(data, config()), /in use by process/);
});

test('a damaged journal is named', () => {
  const data = folder();
  fs.writeFileSync(path.join(data, 'journal.jsonl'), '{"n":1,"do":"account"}\n{"n":2,\n{"n":3}\n');
  assert.throws(() => Store.open(data, config()), /journal\.jsonl:2: /);
});
