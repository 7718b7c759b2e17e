'use strict';

// Loads all test files into one process, under conditions that a plan describes: the order of files and tests, what the
// clock shows, what dice show, how long disk and network take, and which ports are taken.

const fs = require('node:fs');
const http = require('node:http');
const Module = require('node:module');
const net = require('node:net');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const asked = JSON.parse(process.argv[2]);
const laterOn = setTimeout;
const TheDate = Date;
const OWN = process.cwd();

function dice(start) {
  let state = start % 2147483646 + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

const roll = dice(asked.seed ?? 1);

function ordered(list, how) {
  if (how === 'reverse') return [...list].reverse();
  if (how !== 'random') return list;
  const left = [...list];
  const found = [];
  while (left.length) found.push(left.splice(Math.floor(roll() * left.length), 1)[0]);
  return found;
}

// -- the clock and the dice

function shiftClock(at, step) {
  const real = TheDate.now();
  let readings = 0;
  const now = () => (step ? at + step * readings++ : at + TheDate.now() - real);
  globalThis.Date = new Proxy(TheDate, {
    construct: (target, words, made) => Reflect.construct(target, words.length ? words : [now()], made),
    apply: () => new TheDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

function throwDice(how) {
  const ranges = { low: [[0, 0.08]], high: [[0.96, 0.9999]], both: [[0, 0.08], [0.96, 0.9999]], middle: [[0.35, 0.65]] }[how];
  let count = 0;
  Math.random = () => {
    const [from, to] = ranges[count++ % ranges.length];
    return from + (to - from) * roll();
  };
}

// -- slow things

function slowDisk(ms) {
  const wait = () => new Promise((done) => laterOn(done, ms));
  const slowed = (inside, name) => {
    const plain = inside[name];
    inside[name] = async function (...words) {
      await wait();
      return plain.apply(this, words);
    };
  };
  for (const name of ['writeFile', 'appendFile', 'rename', 'copyFile', 'truncate']) {
    slowed(fs.promises, name);
    const plain = fs[name];
    fs[name] = (...words) => void laterOn(() => plain.apply(fs, words), ms);
  }
  const open = fs.promises.open;
  fs.promises.open = async (...words) => {
    const file = await open.apply(fs.promises, words);
    for (const name of ['write', 'writeFile', 'appendFile', 'sync', 'datasync']) slowed(file, name);
    return file;
  };
}

function slowNetwork(ms) {
  const plain = http.Server.prototype.emit;
  http.Server.prototype.emit = function (event, ...more) {
    if (event !== 'request') return plain.call(this, event, ...more);
    const [request] = more;
    // Who has gone meanwhile was never there.
    laterOn(() => request.destroyed || plain.call(this, event, ...more), ms);
    return true;
  };
}

function take(port) {
  return new Promise((done) => {
    const server = net.createServer().unref();
    server.once('error', done);
    server.listen(port, '127.0.0.1', done);
  });
}

// -- tests in another order

let open = null;
let begun = 0;

function within(run) {
  return function (...words) {
    const outer = open;
    const mine = [];
    open = mine;
    const close = () => {
      open = outer;
      for (const begin of ordered(mine, asked.tests)) begin();
    };
    const result = run.apply(this, words);
    if (typeof result?.then === 'function') return result.then(close);
    close();
    return result;
  };
}

function watched(run, options) {
  if (run.length > 1) return run;
  return async function (...words) {
    begun += 1;
    if (begun === asked.kill) process.kill(process.pid, 'SIGKILL');
    try {
      return await run.apply(this, words);
    } catch (error) {
      if (asked.isShort && !options?.todo) process.exit(1);
      throw error;
    }
  };
}

function wrapped(real, isSuite) {
  const call = (begin) => (...words) => {
    const at = words.findLastIndex((word) => typeof word === 'function');
    const options = words.find((word) => word && typeof word === 'object');
    if (at >= 0) words[at] = isSuite ? within(words[at]) : watched(words[at], options);
    if (!open) return begin(...words);
    open.push(() => begin(...words));
    return Promise.resolve();
  };
  const made = call(real);
  for (const name of ['skip', 'todo', 'only']) if (real[name]) made[name] = call(real[name]);
  return made;
}

const tests = require('node:test');
const shown = wrapped(tests.test ?? tests, false);
for (const name of Object.keys(tests)) shown[name] = tests[name];
for (const name of ['test', 'it']) shown[name] = Object.assign(wrapped(tests[name], false), { mock: tests.mock });
for (const name of ['describe', 'suite']) if (tests[name]) shown[name] = wrapped(tests[name], true);
Object.assign(shown, { test: shown, default: shown, skip: shown.test.skip, todo: shown.test.todo, only: shown.test.only });

const load = Module._load;
Module._load = function (name, ...more) {
  return name === 'node:test' || name === 'test' ? shown : load.call(this, name, ...more);
};

// -- all files

function testFiles(folder) {
  const found = [];
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) found.push(...testFiles(file));
    else if (/\.test\.[cm]?js$/.test(entry.name)) found.push(file);
  }
  return found;
}

/** Those first that look most like tests of a file: only so that a failure is seen soon. */
function soonest(files, name) {
  const rank = (file) => (path.basename(file).startsWith(name) ? 0 : fs.readFileSync(file, 'utf8').includes(`/${name}'`) ? 1 : 2);
  return files.map((file) => [rank(file), file]).sort(([one], [other]) => one - other).map(([, file]) => file);
}

async function main() {
  for (const port of asked.ports ?? []) await take(port);
  const found = ordered(testFiles(OWN), asked.files);
  shiftClock(asked.at, asked.step ?? 0);
  throwDice(asked.random ?? 'middle');
  if (asked.disk) slowDisk(asked.disk);
  if (asked.net) slowNetwork(asked.net);
  for (const file of asked.about ? soonest(found, asked.about) : found) {
    shown.describe(path.relative(OWN, file), () => (file.endsWith('.mjs') ? import(pathToFileURL(file)) : void require(file)));
  }
}

process.argv.splice(2);
main();
