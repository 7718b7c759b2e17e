'use strict';

const { systemClock } = require('./clock');

/** So many mails to a domain in any window of so many milliseconds, and no more. */
class Limiter {
  constructor({ count, window }, clock = systemClock) {
    this.count = count;
    this.window = window;
    this.clock = clock;
    this.times = new Map();
  }

  /** 0 if a mail may go out now, which then counts; else the milliseconds until one may. */
  wait(domain) {
    const now = this.clock.now();
    const recent = (this.times.get(domain) ?? []).filter((at) => at > now - this.window);
    this.times.set(domain, recent);
    if (recent.length >= this.count) return recent[0] + this.window - now;
    recent.push(now);
    return 0;
  }

  /** Forgets domains that nothing went to for a window. */
  tidy() {
    const now = this.clock.now();
    for (const [domain, times] of this.times) {
      if (times.every((at) => at <= now - this.window)) this.times.delete(domain);
    }
    return this.times.size;
  }
}

module.exports = { Limiter };
