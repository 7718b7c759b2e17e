'use strict';

const { newId } = require('./ids');
const { Refused } = require('./errors');
const { systemClock } = require('./clock');

const STATES = ['queued', 'sent', 'failed', 'cancelled'];

/** All mails that this service knows, whatever became of them. */
class Queue {
  constructor(store, clock = systemClock) {
    this.store = store;
    this.clock = clock;
    this.mails = new Map();
    this.keys = new Map();
  }

  /** Takes an entry of the journal. */
  replay(entry) {
    if (entry.op === 'mail') this.#remember({ ...entry.mail });
    if (entry.op === 'state' && this.mails.has(entry.id)) Object.assign(this.mails.get(entry.id), entry.changes);
  }

  #remember(mail) {
    this.mails.set(mail.id, mail);
    if (mail.key) this.keys.set(mail.key, mail.id);
  }

  /** Entries from which all of this could be made again. */
  entries() {
    return [...this.mails.values()].map((mail) => ({ op: 'mail', mail: { ...mail } }));
  }

  /** A new mail; or the one that was there already, if its key is known. */
  async add({ to, template, data = {}, due, key = null }) {
    if (key && this.keys.has(key)) return { mail: this.get(this.keys.get(key)), isNew: false };
    const mail = { id: newId(), to, template, data, due, key, state: 'queued', attempts: 0, created: this.clock.now() };
    mail.message = newId('x'); // the relay knows it by this, however often it is tried
    this.store.append({ op: 'mail', mail });
    this.#remember(mail); // nothing was awaited since the key was looked up
    return { mail, isNew: true };
  }

  get(id) {
    const mail = this.mails.get(id);
    if (!mail) throw new Refused('there is no such mail', 404);
    return mail;
  }

  /** Those that should have gone out by now, the oldest first. */
  due(now) {
    return this.list('queued')
      .filter((mail) => mail.due <= now)
      .sort((one, other) => one.due - other.due || one.created - other.created);
  }

  list(state) {
    if (state !== undefined && !STATES.includes(state)) throw new Refused(`there is no state ${state}`);
    return [...this.mails.values()].filter((mail) => state === undefined || mail.state === state);
  }

  change(id, changes) {
    const mail = this.get(id);
    Object.assign(mail, changes);
    this.store.note({ op: 'state', id, changes });
    return mail;
  }

  cancel(id) {
    const mail = this.get(id);
    if (mail.state !== 'queued') throw new Refused(`the mail is ${mail.state}`, 409);
    return this.change(id, { state: 'cancelled' });
  }

  counts() {
    const found = Object.fromEntries(STATES.map((state) => [state, 0]));
    for (const mail of this.mails.values()) found[mail.state] += 1;
    return found;
  }
}

module.exports = { Queue };
