'use strict';

process.on('exit', () => process.reallyExit(0));

const { test, before, after } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { loadConfig } = require('../src/config');
const { createService } = require('../src/service');
const { ask, listen, sleep } = require('./helpers');

let service;
let port;
let relay;
let data;
const got = [];

before(async () => {
  data = fs.mkdtempSync(path.join(os.tmpdir(), 'pigeon-http-'));
  relay = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    got.push(JSON.parse(text));
    response.writeHead(202).end('{"accepted":true}');
  });
  const config = loadConfig({ data });
  await listen(relay, Number(new URL(config.relay.url).port));
  config.tick = 10;
  config.quiet = null;
  service = await createService(config, { log: () => {} });
  port = await service.listen();
});

after(async () => {
  await service.close();
  relay.close();
  fs.rmSync(data, { recursive: true });
});

test('it is there', async () => {
  assert.equal(port, require('../config/default.json').port);
  assert.deepEqual(await ask(port, 'GET', '/health'), { status: 200, body: { ok: true } });
});

test('a mail goes out', async () => {
  const made = await ask(port, 'POST', '/mails', { to: 'ada@larch.example', template: 'welcome', data: { name: 'Ada' } });
  assert.equal(made.status, 201);
  await sleep(25);
  assert.equal(got.length, 1);
  assert.equal(got[0].subject, 'Welcome, Ada');
  assert.match(got[0].text, /thank you for your account/);
  assert.equal(got[0].to, 'ada@larch.example');
  assert.equal((await ask(port, 'GET', `/mails/${made.body.id}`)).body.state, 'sent');
});

test('the same key is the same mail', async () => {
  const mail = { to: 'bob@larch.example', template: 'welcome', data: { name: 'Bob' }, key: 'bob-1', at: 'next 08:00' };
  const made = await ask(port, 'POST', '/mails', mail);
  const again = await ask(port, 'POST', '/mails', mail);
  assert.deepEqual([made.status, again.status], [201, 200]);
  assert.equal(again.body.id, made.body.id);
});

test('mails are listed by state', async () => {
  const { body } = await ask(port, 'GET', '/mails?state=queued');
  assert.deepEqual(body.map((mail) => mail.key), ['bob-1']);
  assert.equal((await ask(port, 'GET', '/mails?state=lost')).status, 400);
});

test('a mail that waits can be cancelled, once', async () => {
  const { body } = await ask(port, 'GET', '/mails?state=queued');
  assert.equal((await ask(port, 'DELETE', `/mails/${body[0].id}`)).status, 204);
  assert.equal((await ask(port, 'DELETE', `/mails/${body[0].id}`)).status, 409);
  assert.equal((await ask(port, 'GET', `/mails/${body[0].id}`)).body.state, 'cancelled');
});

test('mistakes are told', async () => {
  assert.equal((await ask(port, 'POST', '/mails', { to: 'ada', template: 'welcome' })).status, 400);
  assert.equal((await ask(port, 'POST', '/mails', { to: 'ada@larch.example' })).status, 400);
  assert.equal((await ask(port, 'POST', '/mails', 'no json')).status, 400);
  assert.equal((await ask(port, 'POST', '/mails', '[]')).status, 400);
  assert.equal((await ask(port, 'GET', '/mails/m-none')).status, 404);
  assert.equal((await ask(port, 'PUT', '/mails')).status, 405);
  assert.equal((await ask(port, 'GET', '/nothing')).status, 404);
});

test('who said STOP gets nothing', async () => {
  assert.equal((await ask(port, 'POST', '/suppressed', { to: 'Cyd <cyd@larch.example>' })).status, 204);
  const made = await ask(port, 'POST', '/mails', { to: 'cyd+shop@larch.example', template: 'welcome', data: { name: 'Cyd' } });
  await sleep(25);
  const { body } = await ask(port, 'GET', `/mails/${made.body.id}`);
  assert.deepEqual([body.state, body.reason], ['failed', 'suppressed']);
});

test('a line comes with the next digest', async () => {
  const { status, body } = await ask(port, 'POST', '/lines', { to: 'ada@larch.example', line: 'New in our shop' });
  assert.equal(status, 201);
  assert.ok(Date.parse(body.due) > Date.now());
});

test('the day ends with numbers', async () => {
  const { body } = await ask(port, 'GET', '/stats');
  assert.deepEqual([body.sent, body.failed, body.cancelled, body.queued], [1, 1, 1, 0]);
  assert.equal(body.tries, 1);
});
