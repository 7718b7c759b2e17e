'use strict';

const { systemClock } = require('./clock');
const { mailbox } = require('./address');
const { plan } = require('./planner');
const { dayOf } = require('./zone');

/** News that can wait: collected for each person, and sent as one mail at a time of day. */
class Digest {
  constructor(store, { zone, time, clock = systemClock }) {
    Object.assign(this, { store, zone, time, clock });
    this.boxes = new Map();
  }

  replay(entry) {
    if (entry.op === 'line') this.#box(entry.to, entry.due).lines.push(entry.line);
    if (entry.op === 'digest') this.boxes.delete(mailbox(entry.to));
  }

  entries() {
    return [...this.boxes.values()].flatMap(({ to, due, lines }) => lines.map((line) => ({ op: 'line', to, due, line })));
  }

  #box(to, due) {
    const name = mailbox(to);
    if (!this.boxes.has(name)) this.boxes.set(name, { to, due, lines: [] });
    return this.boxes.get(name);
  }

  /** A line for somebody's next digest; says when that is. */
  async add(to, line) {
    const box = this.#box(to, plan(`next ${this.time}`, this.clock.now(), this.zone));
    box.lines.push(line);
    await this.store.append({ op: 'line', to, due: box.due, line });
    return box.due;
  }

  /** Makes mails of all boxes whose time has come. */
  async close(queue) {
    const now = this.clock.now();
    for (const [name, { to, due, lines }] of [...this.boxes]) {
      if (due > now) continue;
      this.boxes.delete(name);
      const data = { count: lines.length, lines: lines.map((line) => ({ line })) };
      await queue.add({ to, template: 'digest', data, due: now, key: `digest:${name}:${dayOf(due, this.zone)}` });
      await this.store.append({ op: 'digest', to });
    }
  }
}

module.exports = { Digest };
