'use strict';

// Plays scenes: each has a relay of its own, and pigeon as a process that can be killed. A scene is a list of steps; what the
// relay got and what pigeon answered is printed as JSON.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const path = require('node:path');

const LONGEST = 25000;
const AT_ONCE = 3;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class Trouble extends Error {}

async function until(what, say, patience = LONGEST) {
  for (const end = Date.now() + patience; ; await pause(4)) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Trouble(say);
  }
}

/** Counts what it accepts, as the real one does; what it answers is told by the address: one word for each try. */
class TheRelay {
  constructor(ways, delay) {
    this.ways = ways;
    this.delay = delay;
    this.got = [];
    this.tries = new Map();
    this.isHolding = false;
    this.held = [];
    this.server = http.createServer((request, response) => this.take(request, response));
  }

  listen() {
    return new Promise((done) => this.server.listen(0, '127.0.0.1', done));
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  async take(request, response) {
    let text = '';
    try {
      for await (const chunk of request) text += chunk;
    } catch {
      return;
    }
    const message = JSON.parse(text);
    const seen = this.tries.get(message.to) ?? 0;
    this.tries.set(message.to, seen + 1);
    const way = (this.ways[message.to] ?? [])[seen] ?? '202';
    const one = { ...message, path: request.url, way, isCounted: false };
    this.got.push(one);
    const go = (isCounted = true) => {
      if (way === 'silent' || way === 'lost' || way === '202') one.isCounted = isCounted;
      if (way === 'lost' || way === 'down' || !isCounted) return request.socket.destroy();
      if (way === 'silent') return undefined;
      const [status, after] = way.split(':');
      const headers = after ? { 'retry-after': after } : {};
      return response.writeHead(Number(status), headers).end(status === '422' ? '{"error":"no such mailbox"}' : '{}');
    };
    if (this.isHolding) this.held.push(go);
    else if (this.delay) setTimeout(go, this.delay);
    else go();
  }

  release(isCounted) {
    this.isHolding = false;
    for (const go of this.held.splice(0)) go(isCounted);
  }
}

class Scene {
  constructor({ name, settings, steps, ways = {}, delay = 0 }) {
    Object.assign(this, { name, settings, steps });
    this.relay = new TheRelay(ways, delay);
    this.folder = fs.mkdtempSync(path.join(process.cwd(), `${name}-`));
    this.answers = {};
    this.waiting = [];
  }

  async play() {
    const told = { answers: this.answers, got: this.relay.got, trouble: null };
    try {
      await this.relay.listen();
      for (const [verb, ...words] of this.steps) await this[verb](...words);
      await Promise.all(this.waiting);
    } catch (error) {
      told.trouble = error instanceof Trouble ? error.message : String(error.stack);
    }
    await this.kill().catch(() => {});
    this.relay.server.close();
    this.relay.server.closeAllConnections?.();
    fs.rmSync(this.folder, { recursive: true, force: true });
    return told;
  }

  // -- steps

  async start() {
    const config = path.join(this.folder, 'config.json');
    const settings = { ...this.settings, data: path.join(this.folder, 'data'), port: 0 };
    fs.writeFileSync(config, JSON.stringify({ ...settings, relay: { url: this.relay.url, ...this.settings.relay } }));
    const words = ['bin/pigeon.js', '--config', config, '--port', '0'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let wrong = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    child.stderr.on('data', (chunk) => (wrong = (wrong + chunk).slice(-300)));
    this.child = child;
    this.hasEnded = new Promise((done) => child.once('exit', done));
    let isOver = false;
    this.hasEnded.then(() => (isOver = true));
    await until(() => isOver || /listens on \S+:\d+/.test(said), 'pigeon does not start');
    if (isOver) throw new Trouble(`pigeon ended: ${wrong}`);
    this.port = Number(/listens on \S+:(\d+)/.exec(said)[1]);
  }

  async kill() {
    if (!this.child) return;
    this.child.kill('SIGKILL');
    await this.hasEnded;
    this.child = null;
  }

  async ask(name, method, target, body) {
    const id = (_, other) => this.answers[other]?.body?.id ?? 'm-nothing';
    this.answers[name] = await this.#asked(method, target.replace(/\$([\w-]+)/g, id), body);
  }

  /** Asks without waiting for the answer. */
  begin(name, ...what) {
    this.waiting.push(this.ask(name, ...what).catch(() => (this.answers[name] ??= { status: 0 })));
  }

  /** All of these in the same moment, each on a connection that is open already. */
  async together(asks) {
    const sockets = await Promise.all(asks.map(() => this.#connected()));
    await Promise.all(asks.map(([name, ...what], at) => {
      const socket = sockets[at];
      return this.#asked(...what, { createConnection: () => socket }).then((answer) => (this.answers[name] = answer));
    }));
  }

  /** As if each had begun alone, and nobody waited. */
  storm(asks) {
    this.waiting.push(this.together(asks).catch(() => {}));
  }

  /** pigeon has taken what was asked before. */
  async taken() {
    for (let times = 0; times < 4; times += 1) await this.#asked('GET', '/health');
  }

  hold() {
    this.relay.isHolding = true;
  }

  async held(count = 1) {
    await until(() => this.relay.held.length >= count, 'nothing is sent');
  }

  async got(count) {
    await until(() => this.relay.got.length >= count, 'too little is sent');
  }

  release(isCounted = true) {
    this.relay.release(isCounted);
  }

  /** Until nothing waits any more. */
  async settle() {
    const isOver = ({ state }) => ['sent', 'failed', 'cancelled'].includes(state);
    await until(async () => {
      await this.#asked('POST', '/flush');
      const { body } = await this.#asked('GET', '/mails');
      if (!Array.isArray(body)) throw new Trouble('GET /mails is no list');
      return body.every(isOver);
    }, 'mails wait for ever');
  }

  /** Power goes while a line is written. */
  tear(text) {
    const file = path.join(this.folder, 'data', 'journal.jsonl');
    if (fs.existsSync(file)) fs.appendFileSync(file, text);
  }

  // -- asking

  #connected() {
    return new Promise((done, failed) => {
      const socket = net.connect(this.port, '127.0.0.1', () => done(socket)).once('error', failed);
    });
  }

  #asked(method, target, body, more = { agent: false }) {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-length': Buffer.byteLength(text) };
    return new Promise((done, failed) => {
      const options = { host: '127.0.0.1', port: this.port, method, path: target, headers, timeout: LONGEST, ...more };
      const request = http.request(options, async (response) => {
        let said = '';
        try {
          for await (const chunk of response) said += chunk;
        } catch (error) {
          return failed(error);
        }
        return done({ status: response.statusCode, body: readable(said) });
      });
      request.on('timeout', () => request.destroy(new Trouble(`no answer to ${method} ${target}`)));
      request.on('error', failed);
      request.end(text);
    });
  }
}

function readable(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return text;
  }
}

async function main() {
  const scenes = JSON.parse(fs.readFileSync(0, 'utf8'));
  const told = [];
  const next = async () => {
    for (let scene = scenes.shift(); scene; scene = scenes.shift()) {
      told.push([scene.name, await new Scene(scene).play()]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  process.stdout.write(JSON.stringify(Object.fromEntries(told)), () => process.exit(0));
}

main();
