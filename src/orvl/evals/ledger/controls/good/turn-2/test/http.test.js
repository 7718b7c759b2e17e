'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { createServer } = require('../lib/http/server');
const { HEADER } = require('../lib/once');
const { call, open } = require('./helpers');

async function serve(t) {
  const store = open(t);
  const server = createServer(store);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const { port } = server.address();
  return (...words) => call(port, ...words);
}

test('a sale, a payout, a balance', async (t) => {
  const ask = await serve(t);
  await ask('POST', '/accounts', { id: 'seller:ana', name: 'Ana', kind: 'seller' });
  const sale = await ask('POST', '/sales', {
    order: 'A-1',
    gross: '100.00',
    date: '2024-02-01',
    sellers: [{ account: 'seller:ana', share: 1 }],
  });
  assert.strictEqual(sale.status, 201);
  assert.deepStrictEqual(sale.body.lines, [
    { account: 'cash', currency: 'EUR', amount: '100.00' },
    { account: 'revenue:fees', currency: 'EUR', amount: '-4.05' },
    { account: 'seller:ana', currency: 'EUR', amount: '-95.95' },
  ]);
  assert.strictEqual((await ask('POST', '/payouts', { account: 'seller:ana', amount: '96.00' })).status, 422);
  assert.strictEqual((await ask('POST', '/payouts', { account: 'seller:ana', amount: '95.95' })).status, 201);
  assert.strictEqual((await ask('GET', '/accounts/seller:ana')).body.balance, '0.00');
  assert.strictEqual((await ask('GET', '/reports/trial')).body.sum, '0.00');
});

test('what cannot be booked is refused', async (t) => {
  const ask = await serve(t);
  const lines = (...amounts) => amounts.map((amount, index) => ({ account: index ? 'suspense' : 'bank', amount }));
  const status = async (body) => (await ask('POST', '/entries', body)).status;
  assert.strictEqual(await status({ lines: lines('5.00', '-4.99') }), 422);
  assert.strictEqual(await status({ lines: lines('5.00', '0.00', '-5.00') }), 400);
  assert.strictEqual(await status({ lines: lines('5.00') }), 400);
  assert.strictEqual(await status({ lines: lines('5.00', '-5.00'), date: '2024-02-30' }), 400);
  assert.strictEqual(await status({ lines: [{ account: 'no', amount: '1' }, { account: 'bank', amount: '-1' }] }), 422);
  assert.strictEqual((await ask('GET', '/entries')).body.length, 0);
});

test('a conversion', async (t) => {
  const ask = await serve(t);
  await ask('POST', '/accounts', { id: 'seller:ana', name: 'Ana', kind: 'seller' });
  const sellers = [{ account: 'seller:ana', share: 1 }];
  await ask('POST', '/sales', { order: 'A-1', gross: '5000', currency: 'JPY', date: '2024-02-01', sellers });
  const wanted = { account: 'seller:ana', from: 'JPY', to: 'EUR', amount: '1000', date: '2024-02-05' };
  assert.strictEqual((await ask('POST', '/conversions', wanted)).status, 201);
  assert.strictEqual((await ask('POST', '/conversions', { ...wanted, date: '2023-01-01' })).status, 422);
  assert.strictEqual((await ask('POST', '/conversions', { ...wanted, to: 'JPY' })).status, 400);
  assert.strictEqual((await ask('POST', '/conversions', { ...wanted, amount: '4000' })).status, 422);
});

test('a key counts once', async (t) => {
  const ask = await serve(t);
  await ask('POST', '/accounts', { id: 'seller:ana', name: 'Ana', kind: 'seller' });
  const sellers = [{ account: 'seller:ana', share: 1 }];
  await ask('POST', '/sales', { order: 'A-1', gross: '50.00', date: '2024-02-01', sellers });
  const pay = (amount, key) => ask('POST', '/payouts', { account: 'seller:ana', amount }, { [HEADER]: key });
  assert.strictEqual((await pay('90.00', 'a')).status, 422);
  const answers = await Promise.all(Array.from({ length: 8 }, () => pay('20.00', 'a')));
  for (const answer of answers) assert.deepStrictEqual(answer, answers[0]);
  assert.strictEqual((await pay('20.01', 'a')).status, Number('{{refuse}}'));
  assert.strictEqual((await ask('GET', '/entries')).body.length, 2);
});

test('paths and methods', async (t) => {
  const ask = await serve(t);
  assert.strictEqual((await ask('GET', '/nothing')).status, 404);
  assert.strictEqual((await ask('GET', '/sales')).status, 405);
  assert.strictEqual((await ask('POST', '/entries', [])).status, 400);
  assert.strictEqual((await ask('GET', '/entries/9')).status, 404);
});
