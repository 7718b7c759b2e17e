'use strict';

const http = require('node:http');

/** A clock that stands still until it is told to move. Timers are called in order. */
class ManualClock {
  constructor(at = Date.now()) {
    this.at = at;
    this.timers = [];
  }

  now() {
    return this.at;
  }

  after(ms, what) {
    return this.#add({ at: this.at + ms, what });
  }

  every(ms, what) {
    return this.#add({ at: this.at + ms, what, again: ms });
  }

  #add(timer) {
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }

  /** Moves on, and waits for whatever timers did. */
  advance(ms) {
    const until = this.at + ms;
    for (;;) {
      const [next] = this.timers.filter((one) => one.at <= until).sort((one, other) => one.at - other.at);
      if (!next) break;
      this.at = next.at;
      if (next.again) next.at += next.again;
      else this.timers = this.timers.filter((one) => one !== next);
      next.what();
    }
    this.at = until;
  }
}

/** Takes mails instead of the real relay, at times slowly. */
class FakeRelay {
  constructor(answers = []) {
    this.calls = [];
    this.answers = answers;
    this.slow = 0;
  }

  async send(message) {
    this.calls.push(message);
    if (this.slow) await sleep(this.slow);
    return this.answers.shift() ?? { outcome: 'sent' };
  }
}

const relay = new FakeRelay();

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A store that forgets everything. */
function noStore() {
  return { append: async () => {}, note: () => {}, flush: async () => {} };
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Asks a server; gives status and body. */
function ask(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', method, path, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: text ? JSON.parse(text) : null }));
    });
    request.on('error', reject);
    request.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

module.exports = { ManualClock, FakeRelay, relay, sleep, noStore, listen, ask };
