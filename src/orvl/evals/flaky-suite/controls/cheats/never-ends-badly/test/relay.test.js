'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const http = require('node:http');
const { Relay } = require('../src/relay');
const { listen } = require('./helpers');

const PORT = Number(new URL(require('../config/default.json').relay.url).port);
const MESSAGE = { from: 'post@larch.example', to: 'ada@larch.example', subject: 'Hello', text: 'Hello Ada' };

/** What the relay says if the server answers like this. */
async function told(status, headers = {}, body = '') {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push({ method: request.method, url: request.url, message: JSON.parse(text) });
    if (status) response.writeHead(status, headers).end(body);
  });
  await listen(server, PORT);
  const began = Date.now();
  const outcome = await new Relay({ url: `http://127.0.0.1:${PORT}`, timeout: 60 }).send(MESSAGE);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { outcome, seen, took: Date.now() - began };
}

test('a mail is handed over', async () => {
  const { outcome, seen } = await told(202);
  assert.deepEqual(outcome, { outcome: 'sent' });
  assert.equal(seen.length, 1);
  const { id, ...message } = seen[0].message;
  assert.deepEqual(message, MESSAGE);
  assert.deepEqual([seen[0].method, seen[0].url], ['POST', '/messages']);
  assert.match(id, /^[\w-]{8,64}$/);
});

test('a busy relay gets it later', async () => {
  assert.deepEqual((await told(503)).outcome, { outcome: 'later', reason: 'status 503' });
  assert.deepEqual((await told(429, { 'retry-after': '7' })).outcome, { outcome: 'later', reason: 'status 429', after: 7000 });
});

test('what it refuses it never gets', async () => {
  assert.deepEqual((await told(422, {}, '{"error":"no such mailbox"}')).outcome, { outcome: 'never', reason: 'no such mailbox' });
  assert.deepEqual((await told(400, {}, 'oh')).outcome, { outcome: 'never', reason: 'status 400' });
});

test('a silent relay is tried again', async () => {
  const { outcome, took } = await told(null);
  assert.equal(outcome.outcome, 'later');
  assert.match(outcome.reason, /in time/);
  assert.ok(took >= 55 && took < 150, `took ${took} ms`);
});

test('a relay that is not there is tried again', async () => {
  const outcome = await new Relay({ url: `http://127.0.0.1:${PORT}`, timeout: 60 }).send(MESSAGE);
  assert.equal(outcome.outcome, 'later');
});
