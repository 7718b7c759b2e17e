'use strict';

const { mailbox } = require('./address');

/** Mailboxes that must not get anything any more: they bounced, or their owners said STOP. */
class Suppressed {
  constructor(store) {
    this.store = store;
    this.reasons = new Map();
  }

  replay(entry) {
    if (entry.op === 'suppress') this.reasons.set(entry.mailbox, entry.reason);
  }

  entries() {
    return [...this.reasons].map(([one, reason]) => ({ op: 'suppress', mailbox: one, reason }));
  }

  async add(address, reason = 'asked for it') {
    const one = mailbox(address);
    if (this.reasons.has(one)) return;
    this.reasons.set(one, reason);
    await this.store.append({ op: 'suppress', mailbox: one, reason });
  }

  has(address) {
    return this.reasons.has(mailbox(address));
  }
}

module.exports = { Suppressed };
