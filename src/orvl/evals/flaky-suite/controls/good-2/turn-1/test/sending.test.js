'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { Limiter } = require('../src/limiter');
const { Queue } = require('../src/queue');
const { Suppressed } = require('../src/suppressed');
const { Worker } = require('../src/worker');
const { retryDelay, isLastTry } = require('../src/retry');
const http = require('node:http');
const { Relay } = require('../src/relay');
const { ManualClock, FakeRelay, noStore, listen } = require('./support/stand-ins');

describe('worker', () => {
  const SETTINGS = {
    sender: 'Larch & Co <post@larch.example>',
    tick: 10,
    retry: { first: 100, factor: 3, most: 2000, jitter: 0.2, tries: 3 },
  };

  async function parts({ mails = 1, clock = new ManualClock(), through = new FakeRelay(), count = 100, template = 'reminder' } = {}) {
    const queue = new Queue(noStore(), clock);
    const suppressed = new Suppressed(noStore());
    const limiter = new Limiter({ count, window: 1000 }, clock);
    const worker = new Worker({ queue, relay: through, limiter, suppressed, settings: SETTINGS, clock, random: () => 0.5 });
    const data = { number: '7', name: 'Ada', total: 100, due: '2026-06-01' };
    for (let number = 1; number <= mails; number += 1) {
      await queue.add({ to: `ada${number}@larch.example`, template, data, due: 0 });
    }
    return { queue, worker, suppressed, clock, relay: through };
  }

  it('what is due goes out', async () => {
    const { queue, worker, clock, relay } = await parts();
    worker.start(10);
    await clock.advance(9);
    assert.equal(relay.calls.length, 0);
    await clock.advance(20);
    assert.equal(relay.calls.length, 1);
    assert.deepEqual([relay.calls[0].to, relay.calls[0].from], ['ada1@larch.example', SETTINGS.sender]);
    assert.equal(relay.calls[0].subject, 'Still open: invoice 7');
    assert.deepEqual(queue.counts(), { queued: 0, sent: 1, failed: 0, cancelled: 0 });
    worker.stop();
    await queue.add({ to: 'eve@larch.example', template: 'welcome', data: { name: 'Eve' }, due: 0 });
    await clock.advance(100);
    assert.equal(relay.calls.length, 1);
  });

  it('what is not due stays', async () => {
    const { queue, worker, clock, relay } = await parts({ mails: 0 });
    await queue.add({ to: 'ada@larch.example', template: 'welcome', data: { name: 'Ada' }, due: clock.now() + 60000 });
    assert.deepEqual(await worker.flush(), { sent: 0, failed: 0, later: 0 });
    assert.equal(relay.calls.length, 0);
  });

  it('each mail goes out once, also when somebody flushes meanwhile', async () => {
    const { queue, worker, clock, relay } = await parts({ mails: 3 });
    relay.hold();
    worker.start(10);
    const ticked = clock.advance(10);
    const flushed = [worker.flush(), worker.flush()];
    relay.release();
    await Promise.all([ticked, ...flushed]);
    worker.stop();
    assert.equal(queue.counts().sent, 3);
    assert.equal(relay.calls.length, 3);
  });

  it('what fails for now is tried again', async () => {
    const clock = new ManualClock();
    const through = new FakeRelay([{ outcome: 'later', reason: 'status 503' }, { outcome: 'later', reason: 'status 503' }]);
    const { queue, worker } = await parts({ clock, through });
    assert.deepEqual(await worker.flush(), { sent: 0, failed: 0, later: 1 });
    assert.deepEqual(await worker.flush(), { sent: 0, failed: 0, later: 0 });
    clock.advance(109);
    assert.equal((await worker.flush()).later, 0);
    clock.advance(1);
    assert.deepEqual(await worker.flush(), { sent: 0, failed: 0, later: 1 });
    clock.advance(329);
    await worker.flush();
    assert.equal(through.calls.length, 2);
    clock.advance(1);
    assert.deepEqual(await worker.flush(), { sent: 1, failed: 0, later: 0 });
    assert.equal(queue.list()[0].attempts, 3);
  });

  it('the relay may ask for more time', async () => {
    const clock = new ManualClock();
    const through = new FakeRelay([{ outcome: 'later', reason: 'status 429', after: 5000 }]);
    const { worker } = await parts({ clock, through });
    await worker.flush();
    clock.advance(4999);
    assert.equal((await worker.flush()).sent, 0);
    clock.advance(1);
    assert.equal((await worker.flush()).sent, 1);
  });

  it('some time it gives up', async () => {
    const clock = new ManualClock();
    const through = new FakeRelay(Array.from({ length: 9 }, () => ({ outcome: 'later', reason: 'status 500' })));
    const { queue, worker } = await parts({ clock, through });
    for (let round = 0; round < 9; round += 1) {
      await worker.flush();
      clock.advance(10000);
    }
    assert.equal(through.calls.length, 3);
    assert.deepEqual([queue.list()[0].state, queue.list()[0].reason], ['failed', 'status 500']);
  });

  it('what the relay refuses has failed', async () => {
    const through = new FakeRelay([{ outcome: 'never', reason: 'no such mailbox' }]);
    const { queue, worker } = await parts({ mails: 2, through });
    assert.deepEqual(await worker.flush(), { sent: 1, failed: 1, later: 0 });
    assert.equal(queue.list('failed')[0].reason, 'no such mailbox');
  });

  it('what cannot be written has failed', async () => {
    const { queue, worker } = await parts({ template: 'nothing-like-it', through: new FakeRelay() });
    assert.equal((await worker.flush()).failed, 1);
    assert.match(queue.list('failed')[0].reason, /no template/);
  });

  it('a domain does not get too much at once', async () => {
    const clock = new ManualClock();
    const through = new FakeRelay();
    const { worker } = await parts({ mails: 5, clock, through, count: 2 });
    assert.deepEqual(await worker.flush(), { sent: 2, failed: 0, later: 3 });
    clock.advance(1000);
    assert.deepEqual(await worker.flush(), { sent: 2, failed: 0, later: 1 });
  });

  it('who said STOP gets nothing', async () => {
    const through = new FakeRelay();
    const { queue, worker, suppressed } = await parts({ through });
    await suppressed.add('ada1@larch.example');
    assert.equal((await worker.flush()).failed, 1);
    assert.deepEqual([through.calls.length, queue.list()[0].reason], [0, 'suppressed']);
  });

  it('ticks wait for each other', async () => {
    const { worker, relay } = await parts({ mails: 2 });
    relay.hold();
    const first = worker.tick();
    assert.equal(await worker.tick(), null);
    relay.release();
    assert.equal((await first).sent, 2);
    assert.equal((await worker.tick()).sent, 0);
  });
});

describe('retry', () => {
  const RETRY = { first: 100, factor: 3, most: 2000, jitter: 0.2, tries: 6 };

  it('delays grow', () => {
    for (const [failures, plain] of [[1, 100], [2, 300], [3, 900]]) {
      assert.equal(retryDelay(failures, RETRY, () => 0), plain);
      assert.equal(retryDelay(failures, RETRY, () => 0.5), Math.round(plain * 1.1));
    }
  });

  it('delays do not grow for ever', () => {
    assert.equal(retryDelay(9, RETRY, () => 0), 2000);
    assert.equal(retryDelay(9, RETRY, () => 1), 2400);
  });

  it('not everybody comes back at once', () => {
    assert.equal(retryDelay(1, RETRY, () => 0), 100);
    assert.equal(retryDelay(1, RETRY, () => 1), 120);
  });

  it('some time it is over', () => {
    assert.equal(isLastTry(5, RETRY), false);
    assert.equal(isLastTry(6, RETRY), true);
  });
});

describe('relay', () => {
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

  it('a mail is handed over', async () => {
    const { outcome, seen } = await told(202);
    assert.deepEqual(outcome, { outcome: 'sent' });
    assert.equal(seen.length, 1);
    const { id, ...message } = seen[0].message;
    assert.deepEqual(message, MESSAGE);
    assert.deepEqual([seen[0].method, seen[0].url], ['POST', '/messages']);
    assert.match(id, /^[\w-]{8,64}$/);
  });

  it('a busy relay gets it later', async () => {
    assert.deepEqual((await told(503)).outcome, { outcome: 'later', reason: 'status 503' });
    assert.deepEqual((await told(429, { 'retry-after': '7' })).outcome, { outcome: 'later', reason: 'status 429', after: 7000 });
  });

  it('what it refuses it never gets', async () => {
    assert.deepEqual((await told(422, {}, '{"error":"no such mailbox"}')).outcome, { outcome: 'never', reason: 'no such mailbox' });
    assert.deepEqual((await told(400, {}, 'oh')).outcome, { outcome: 'never', reason: 'status 400' });
  });

  it('a silent relay is tried again', async () => {
    const { outcome } = await told(null);
    assert.equal(outcome.outcome, 'later');
    assert.match(outcome.reason, /in time/);
  });

  it('a relay that is not there is tried again', async () => {
    const server = http.createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const outcome = await new Relay({ url: `http://127.0.0.1:${port}`, timeout: 60000 }).send(MESSAGE);
    assert.equal(outcome.outcome, 'later');
  });
});
