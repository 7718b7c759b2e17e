'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/** Stands still; `advance` moves it, and gives a promise for all that came due. */
class ManualClock {
  #now;
  #waiting = new Set();

  constructor(now = Date.UTC(2026, 4, 4, 16)) {
    this.#now = now;
  }

  now() {
    return this.#now;
  }

  after(ms, call) {
    return this.#wait({ due: this.#now + ms, call });
  }

  every(ms, call) {
    return this.#wait({ due: this.#now + ms, call, every: ms });
  }

  #wait(timer) {
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  }

  #first(until) {
    let first = null;
    for (const timer of this.#waiting) if (timer.due <= until && (!first || timer.due < first.due)) first = timer;
    return first;
  }

  advance(ms) {
    const until = this.#now + ms;
    const results = [];
    for (let timer = this.#first(until); timer; timer = this.#first(until)) {
      this.#now = timer.due;
      if (timer.every) timer.due += timer.every;
      else this.#waiting.delete(timer);
      results.push(timer.call());
    }
    this.#now = until;
    return Promise.all(results);
  }
}

/** A relay with an answer for each call; `hold` keeps all of them until `release`. */
class FakeRelay {
  constructor(answers = []) {
    this.calls = [];
    this.answers = answers;
  }

  hold() {
    this.gate = new Promise((open) => (this.release = open));
  }

  async send(message) {
    this.calls.push(message);
    if (this.gate) await this.gate;
    return this.answers.shift() ?? { outcome: 'sent' };
  }
}

const noStore = () => ({ append: async () => {}, note: () => {}, flush: async () => {} });

function temporaryFolder(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pigeon-test-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lets a server listen wherever there is room. */
async function listen(server) {
  await new Promise((done, failed) => server.once('error', failed).listen(0, '127.0.0.1', done));
  return server.address().port;
}

module.exports = { ManualClock, FakeRelay, temporaryFolder, noStore, listen };
