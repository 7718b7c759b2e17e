'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const http = require('node:http');
const { Relay } = require('../src/relay');
const { listen } = require('./helpers');

const MESSAGE = { from: 'post@larch.example', to: 'ada@larch.example', subject: 'Hello', text: 'Hello Ada' };

/** What the relay says if the server answers like this; it never does without a status. */
async function told(status, headers = {}, body = '') {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    if (!status) return;
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push({ method: request.method, url: request.url, message: JSON.parse(text) });
    response.writeHead(status, headers).end(body);
  });
  const port = await listen(server);
  const outcome = await new Relay({ url: `http://127.0.0.1:${port}`, timeout: status ? 60000 : 50 }).send(MESSAGE);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { outcome, seen };
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
  const { outcome } = await told(null);
  assert.equal(outcome.outcome, 'later');
  assert.match(outcome.reason, /in time/);
});

test('a relay that is not there is tried again', async () => {
  const server = http.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const outcome = await new Relay({ url: `http://127.0.0.1:${port}`, timeout: 60000 }).send(MESSAGE);
  assert.equal(outcome.outcome, 'later');
});
