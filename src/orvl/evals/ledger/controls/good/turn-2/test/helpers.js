'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { loadConfig } = require('../lib/config');
const { Store } = require('../lib/store');

const ROOT = path.join(__dirname, '..');

/** An empty folder that is gone when all tests of the file are through. */
function folder() {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'tally-'));
  process.once('exit', () => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A store on such a folder, and what it needs. */
function open(t, data = folder()) {
  const store = Store.open(data, loadConfig(path.join(ROOT, 'config')));
  t.after(() => store.close());
  return store;
}

function seller(store, id) {
  store.append({ do: 'account', id, name: id, kind: 'seller' });
}

function tally(data, ...words) {
  return spawnSync(process.execPath, [path.join(ROOT, 'bin/tally.js'), ...words, '--data', data], { encoding: 'utf8' });
}

/** Calls a running service. */
async function call(port, method, where, body, headers = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}${where}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

module.exports = { ROOT, folder, open, seller, tally, call };
