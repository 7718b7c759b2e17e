'use strict';

const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { loadConfig } = require('../lib/config');
const { Store } = require('../lib/store');
const { ROOT, folder, open, seller } = require('./helpers');

const config = () => loadConfig(path.join(ROOT, 'config'));

test('what was booked is there after a restart', (t) => {
  const data = folder();
  const first = Store.open(data, config());
  seller(first, 'seller:ana');
  first.append({ do: 'sale', date: '2024-02-01', order: 'A-1', gross: '100.00', sellers: [['seller:ana', 1]] });
  first.close();
  assert.strictEqual(open(t, data).books.owed('seller:ana', 'EUR'), 9595n);
});

test('the snapshot says what the journal says', (t) => {
  const data = folder();
  const first = Store.open(data, config());
  seller(first, 'seller:ana');
  for (let number = 0; number < 230; number += 1) {
    first.append({ do: 'sale', date: '2024-02-01', order: `A-${number}`, gross: '9.99', sellers: [['seller:ana', 1]] });
  }
  first.close();
  const before = Store.read(data, config()).books.balances();
  fs.rmSync(path.join(data, 'snapshot.json'));
  assert.deepStrictEqual(Store.read(data, config()).books.balances(), before);
});

test('there is one writer', (t) => {
  const data = folder();
  open(t, data);
  assert.throws(() => Store.open(data, config()), /in use by process/);
});

test('a damaged journal is named', (t) => {
  const data = folder();
  fs.writeFileSync(path.join(data, 'journal.jsonl'), '{"n":1,"do":"account"}\n{"n":2,\n{"n":3}\n');
  assert.throws(() => Store.open(data, config()), /journal\.jsonl:2: /);
});
