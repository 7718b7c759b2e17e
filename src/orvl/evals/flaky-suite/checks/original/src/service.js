'use strict';

const { systemClock } = require('./clock');
const { parseAddress } = require('./address');
const { Digest } = require('./digest');
const { Refused } = require('./errors');
const { createServer } = require('./http');
const { Limiter } = require('./limiter');
const { createLog } = require('./log');
const { plan, afterQuiet } = require('./planner');
const { Queue } = require('./queue');
const { Relay } = require('./relay');
const { sentByDay, meanTries } = require('./stats');
const { Store } = require('./store');
const { Suppressed } = require('./suppressed');
const { Worker } = require('./worker');

/** All parts of pigeon, put together. */
class Service {
  constructor(config, { clock = systemClock, random = Math.random, relay, log = createLog(clock) } = {}) {
    this.config = config;
    this.clock = clock;
    this.store = new Store(config.data, { ...config.journal, clock });
    this.queue = new Queue(this.store, clock);
    this.suppressed = new Suppressed(this.store);
    this.digest = new Digest(this.store, { zone: config.zone, time: config.digest, clock });
    this.worker = new Worker({
      queue: this.queue,
      relay: relay ?? new Relay(config.relay),
      limiter: new Limiter(config.limit, clock),
      suppressed: this.suppressed,
      settings: config,
      clock,
      random,
      log,
    });
    this.server = createServer(this, log);
  }

  async open() {
    const parts = [this.queue, this.suppressed, this.digest];
    const entries = await this.store.open(() => parts.flatMap((part) => part.entries()));
    for (const entry of entries) for (const part of parts) part.replay(entry);
    return this;
  }

  /** Begins to work; says the port. */
  async listen() {
    await new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.config.port, '127.0.0.1', resolve);
    });
    this.stopDigests = this.clock.every(this.config.tick, () => this.digest.close(this.queue));
    this.worker.start();
    return this.server.address().port;
  }

  async close() {
    this.worker.stop();
    this.stopDigests?.();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
    await this.store.close();
  }

  // -- what the API does

  async addMail({ to, template, data, at, key, urgent = false }) {
    parseAddress(to);
    if (typeof template !== 'string') throw new Refused('template is missing');
    if (key !== undefined && (typeof key !== 'string' || !key)) throw new Refused('key is a text');
    const { zone, quiet } = this.config;
    const due = plan(at, this.clock.now(), zone);
    return this.queue.add({ to, template, data, key, due: urgent ? due : afterQuiet(due, quiet, zone) });
  }

  async addLine({ to, line }) {
    parseAddress(to);
    if (typeof line !== 'string' || !line) throw new Refused('line is missing');
    return this.digest.add(to, line);
  }

  async flush() {
    await this.digest.close(this.queue);
    return this.worker.flush();
  }

  stats() {
    const mails = this.queue.list();
    const days = sentByDay(mails, this.config.zone);
    return { ...this.queue.counts(), days, tries: meanTries(mails) };
  }
}

async function createService(config, parts) {
  return new Service(config, parts).open();
}

module.exports = { createService };
