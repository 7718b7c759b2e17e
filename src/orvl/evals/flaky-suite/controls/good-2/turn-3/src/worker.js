'use strict';

const { systemClock } = require('./clock');
const { parseAddress } = require('./address');
const { retryDelay, isLastTry } = require('./retry');
const { render } = require('./template');

/** Sends what is due: at every tick, and when somebody asks for it. */
class Worker {
  constructor({ queue, relay, limiter, suppressed, settings, clock = systemClock, random = Math.random, log = () => {} }) {
    Object.assign(this, { queue, relay, limiter, suppressed, settings, clock, random, log });
    this.ticking = false;
    this.stopTicking = null;
    this.lastRound = Promise.resolve();
  }

  start(every = this.settings.tick) {
    this.stopTicking ??= this.clock.every(every, () => this.tick());
  }

  stop() {
    this.stopTicking?.();
    this.stopTicking = null;
  }

  /** One round, unless the last one still runs. */
  async tick() {
    if (this.ticking) return null;
    this.ticking = true;
    try {
      return await this.flush();
    } finally {
      this.ticking = false;
    }
  }

  /** Sends all that is due, when no other round runs; says how many were sent, failed, and wait for another try. */
  flush() {
    const round = this.lastRound.then(() => this.#round());
    this.lastRound = round.catch(() => {});
    return round;
  }

  async #round() {
    const done = { sent: 0, failed: 0, later: 0 };
    for (const mail of this.queue.due(this.clock.now())) {
      const outcome = await this.deliver(mail);
      if (outcome) done[outcome] += 1;
    }
    return done;
  }

  async deliver(mail) {
    if (mail.state !== 'queued') return null; // cancelled meanwhile
    if (this.suppressed.has(mail.to)) return this.#fail(mail, 'suppressed');
    const wait = this.limiter.wait(parseAddress(mail.to).domain);
    if (wait > 0) return this.#postpone(mail, wait, 'too many to this domain');
    let content;
    try {
      content = render(mail.template, mail.data);
    } catch (error) {
      return this.#fail(mail, error.message);
    }
    const answer = await this.relay.send({ id: mail.message ?? mail.id, from: this.settings.sender, to: mail.to, ...content });
    return this.#after(mail, answer);
  }

  #after(mail, { outcome, after = 0, reason }) {
    const attempts = mail.attempts + 1;
    if (outcome === 'sent') {
      this.queue.change(mail.id, { state: 'sent', attempts, sent: this.clock.now() });
      this.log('sent', { mail: mail.id });
      return 'sent';
    }
    if (outcome === 'never' || isLastTry(attempts, this.settings.retry)) return this.#fail(mail, reason, attempts);
    const wait = Math.max(after, retryDelay(attempts, this.settings.retry, this.random));
    return this.#postpone(mail, wait, reason, attempts);
  }

  #postpone(mail, wait, reason, attempts = mail.attempts) {
    this.queue.change(mail.id, { due: this.clock.now() + wait, attempts, reason });
    this.log('later', { mail: mail.id, wait, reason });
    return 'later';
  }

  #fail(mail, reason, attempts = mail.attempts) {
    this.queue.change(mail.id, { state: 'failed', attempts, reason });
    this.log('failed', { mail: mail.id, reason });
    return 'failed';
  }
}

module.exports = { Worker };
