'use strict';

const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');

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

  /** Moves on. What this gives is done when all is done that timers began. */
  advance(ms) {
    const until = this.at + ms;
    const begun = [];
    for (;;) {
      const [next] = this.timers.filter((one) => one.at <= until).sort((one, other) => one.at - other.at);
      if (!next) break;
      this.at = next.at;
      if (next.again) next.at += next.again;
      else this.timers = this.timers.filter((one) => one !== next);
      begun.push(next.what());
    }
    this.at = until;
    return Promise.all(begun);
  }
}

/** Takes mails instead of the real relay. While it holds them, nobody gets an answer. */
class FakeRelay {
  constructor(answers = []) {
    this.calls = [];
    this.answers = answers;
    this.held = null;
  }

  hold() {
    this.held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async send(message) {
    this.calls.push(message);
    await this.held;
    return this.answers.shift() ?? { outcome: 'sent' };
  }
}

function newFolder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'pigeon-'));
}

/** A folder that is gone after the test. */
function temporaryFolder(t) {
  const folder = newFolder();
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store that forgets everything. */
function noStore() {
  return { append: async (entry, written = () => {}) => written(), note: () => {}, flush: async () => {} };
}

/** Listens at a port that nobody has; gives it. */
function listen(server) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
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

module.exports = { ManualClock, FakeRelay, newFolder, temporaryFolder, noStore, listen, ask };
