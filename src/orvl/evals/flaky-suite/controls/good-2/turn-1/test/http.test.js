'use strict';

const { describe, it, before, after } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { once } = require('node:events');
const { loadConfig } = require('../src/config');
const { createService } = require('../src/service');

let counter = 0;
const somebody = (more) => ({ to: `guest${(counter += 1)}@larch.example`, template: 'welcome', data: { name: 'Guest' }, ...more });

describe('the API', () => {
  const got = new Map();
  const relay = http.createServer(async (request, response) => {
    const message = JSON.parse(Buffer.concat(await request.toArray()).toString());
    got.set(message.to, [...(got.get(message.to) ?? []), message]);
    response.writeHead(202).end();
  });
  let folder;
  let service;
  let base;

  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pigeon-api-'));
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    const env = { PIGEON_RELAY: `http://127.0.0.1:${relay.address().port}` };
    const config = { ...loadConfig({ data: folder, port: 0 }, env), tick: 2 ** 30, quiet: null };
    service = await createService(config, { log: () => {} });
    base = `http://127.0.0.1:${await service.listen()}`;
  });

  after(async () => {
    await service.close();
    await new Promise((done) => relay.close(done));
    fs.rmSync(folder, { recursive: true });
  });

  async function ask(method, target, body) {
    const options = { method, headers: { connection: 'close' } };
    if (body !== undefined) options.body = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(base + target, options);
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : null };
  }

  const status = async (...what) => (await ask(...what)).status;

  it('is there', async () => {
    assert.deepEqual(await ask('GET', '/health'), { status: 200, body: { ok: true } });
  });

  it('sends a mail', async () => {
    const mail = somebody({ data: { name: 'Ada' } });
    const made = await ask('POST', '/mails', mail);
    assert.equal(made.status, 201);
    await ask('POST', '/flush');
    const [message, ...others] = got.get(mail.to);
    assert.deepEqual(others, []);
    assert.equal(message.subject, 'Welcome, Ada');
    assert.match(message.text, /thank you for your account/);
    assert.equal((await ask('GET', `/mails/${made.body.id}`)).body.state, 'sent');
  });

  it('knows keys', async () => {
    const mail = somebody({ key: 'guest-key', at: 'next 08:00' });
    const [first, second] = [await ask('POST', '/mails', mail), await ask('POST', '/mails', mail)];
    assert.deepEqual([first.status, second.status, second.body.id], [201, 200, first.body.id]);
  });

  it('lists mails by state, and cancels those that wait', async () => {
    const { body: mail } = await ask('POST', '/mails', somebody({ at: '2090-01-01T00:00Z' }));
    const waiting = async () => (await ask('GET', '/mails?state=queued')).body.some(({ id }) => id === mail.id);
    assert.ok(await waiting());
    assert.equal(await status('DELETE', `/mails/${mail.id}`), 204);
    assert.ok(!(await waiting()));
    assert.equal(await status('DELETE', `/mails/${mail.id}`), 409);
    assert.equal((await ask('GET', `/mails/${mail.id}`)).body.state, 'cancelled');
    assert.equal(await status('GET', '/mails?state=lost'), 400);
  });

  it('tells mistakes', async () => {
    assert.equal(await status('POST', '/mails', somebody({ to: 'ada' })), 400);
    assert.equal(await status('POST', '/mails', { to: 'ada@larch.example' }), 400);
    assert.equal(await status('POST', '/mails', 'no json'), 400);
    assert.equal(await status('POST', '/mails', '[]'), 400);
    assert.equal(await status('GET', '/mails/m-none'), 404);
    assert.equal(await status('PUT', '/mails'), 405);
    assert.equal(await status('GET', '/nothing'), 404);
  });

  it('respects STOP', async () => {
    assert.equal(await status('POST', '/suppressed', { to: 'Cyd <cyd@larch.example>' }), 204);
    const { body } = await ask('POST', '/mails', somebody({ to: 'cyd+shop@larch.example' }));
    await ask('POST', '/flush');
    const { state, reason } = (await ask('GET', `/mails/${body.id}`)).body;
    assert.deepEqual([state, reason], ['failed', 'suppressed']);
  });

  it('keeps lines for the next digest', async () => {
    const { status: said, body } = await ask('POST', '/lines', { to: 'ada@larch.example', line: 'New' });
    assert.equal(said, 201);
    assert.match(body.due, /:00:00\.000Z$/);
  });

  it('counts', async () => {
    const { body: earlier } = await ask('GET', '/stats');
    await ask('POST', '/mails', somebody());
    await ask('POST', '/mails', somebody({ template: 'nothing-like-it' }));
    await ask('POST', '/flush');
    const { body } = await ask('GET', '/stats');
    assert.deepEqual([body.sent - earlier.sent, body.failed - earlier.failed, body.tries], [1, 1, 1]);
  });
});
