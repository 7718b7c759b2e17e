'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const { loadConfig } = require('../src/config');
const { createService } = require('../src/service');
const { ask, listen, newFolder } = require('./helpers');

const NEVER = 10 ** 8;

/** A service with a relay of its own; nothing goes out before somebody flushes. */
async function started(t) {
  const got = [];
  const relay = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    got.push(JSON.parse(text));
    response.writeHead(202).end('{"accepted":true}');
  });
  const url = `http://127.0.0.1:${await listen(relay)}`;
  const data = newFolder();
  const config = { ...loadConfig({ data, port: 0 }, {}), relay: { url, timeout: 60000 }, tick: NEVER, quiet: null };
  const service = await createService(config, { log: () => {} });
  const port = await service.listen();
  t.after(async () => {
    await service.close();
    await new Promise((resolve) => relay.close(resolve));
    fs.rmSync(data, { recursive: true });
  });
  return { got, ask: (...what) => ask(port, ...what) };
}

function mailTo(name, more) {
  return { to: `${name.toLowerCase()}@larch.example`, template: 'welcome', data: { name }, ...more };
}

test('it is there', async (t) => {
  const pigeon = await started(t);
  assert.deepEqual(await pigeon.ask('GET', '/health'), { status: 200, body: { ok: true } });
});

test('it listens where it should, without being told', () => {
  assert.equal(loadConfig({}, {}).port, require('../config/default.json').port);
});

test('a mail goes out', async (t) => {
  const pigeon = await started(t);
  const made = await pigeon.ask('POST', '/mails', mailTo('Ada'));
  assert.equal(made.status, 201);
  assert.deepEqual((await pigeon.ask('POST', '/flush')).body, { sent: 1, failed: 0, later: 0 });
  assert.equal(pigeon.got.length, 1);
  assert.equal(pigeon.got[0].subject, 'Welcome, Ada');
  assert.match(pigeon.got[0].text, /thank you for your account/);
  assert.equal(pigeon.got[0].to, 'ada@larch.example');
  assert.equal((await pigeon.ask('GET', `/mails/${made.body.id}`)).body.state, 'sent');
});

test('the same key is the same mail', async (t) => {
  const pigeon = await started(t);
  const mail = mailTo('Bob', { key: 'bob-1', at: 'next 08:00' });
  const made = await pigeon.ask('POST', '/mails', mail);
  const again = await pigeon.ask('POST', '/mails', mail);
  assert.deepEqual([made.status, again.status], [201, 200]);
  assert.equal(again.body.id, made.body.id);
});

test('mails are listed by state', async (t) => {
  const pigeon = await started(t);
  await pigeon.ask('POST', '/mails', mailTo('Ada'));
  await pigeon.ask('POST', '/flush');
  await pigeon.ask('POST', '/mails', mailTo('Bob', { key: 'bob-1' }));
  const { body } = await pigeon.ask('GET', '/mails?state=queued');
  assert.deepEqual(body.map((mail) => mail.key), ['bob-1']);
  assert.equal((await pigeon.ask('GET', '/mails')).body.length, 2);
  assert.equal((await pigeon.ask('GET', '/mails?state=lost')).status, 400);
});

test('a mail that waits can be cancelled, once', async (t) => {
  const pigeon = await started(t);
  const { body } = await pigeon.ask('POST', '/mails', mailTo('Bob'));
  assert.equal((await pigeon.ask('DELETE', `/mails/${body.id}`)).status, 204);
  assert.equal((await pigeon.ask('DELETE', `/mails/${body.id}`)).status, 409);
  assert.equal((await pigeon.ask('GET', `/mails/${body.id}`)).body.state, 'cancelled');
});

test('mistakes are told', async (t) => {
  const pigeon = await started(t);
  assert.equal((await pigeon.ask('POST', '/mails', { to: 'ada', template: 'welcome' })).status, 400);
  assert.equal((await pigeon.ask('POST', '/mails', { to: 'ada@larch.example' })).status, 400);
  assert.equal((await pigeon.ask('POST', '/mails', 'no json')).status, 400);
  assert.equal((await pigeon.ask('POST', '/mails', '[]')).status, 400);
  assert.equal((await pigeon.ask('GET', '/mails/m-none')).status, 404);
  assert.equal((await pigeon.ask('PUT', '/mails')).status, 405);
  assert.equal((await pigeon.ask('GET', '/nothing')).status, 404);
});

test('who said STOP gets nothing', async (t) => {
  const pigeon = await started(t);
  assert.equal((await pigeon.ask('POST', '/suppressed', { to: 'Cyd <cyd@larch.example>' })).status, 204);
  const made = await pigeon.ask('POST', '/mails', { ...mailTo('Cyd'), to: 'cyd+shop@larch.example' });
  await pigeon.ask('POST', '/flush');
  const { body } = await pigeon.ask('GET', `/mails/${made.body.id}`);
  assert.deepEqual([body.state, body.reason], ['failed', 'suppressed']);
});

test('a line comes with the next digest', async (t) => {
  const pigeon = await started(t);
  const { status, body } = await pigeon.ask('POST', '/lines', { to: 'ada@larch.example', line: 'New in our shop' });
  assert.equal(status, 201);
  assert.match(body.due, /T0[67]:00:00\.000Z$/);
});

test('the day ends with numbers', async (t) => {
  const pigeon = await started(t);
  await pigeon.ask('POST', '/mails', mailTo('Ada'));
  await pigeon.ask('POST', '/mails', { ...mailTo('Bob'), template: 'nothing-like-it' });
  await pigeon.ask('POST', '/flush');
  const { body: cyd } = await pigeon.ask('POST', '/mails', mailTo('Cyd'));
  await pigeon.ask('DELETE', `/mails/${cyd.id}`);
  const { body } = await pigeon.ask('GET', '/stats');
  assert.deepEqual([body.sent, body.failed, body.cancelled, body.queued], [1, 1, 1, 0]);
  assert.equal(body.tries, 1);
});
