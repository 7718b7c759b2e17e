'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { readOptions, loadConfig, UsageError } = require('../src/config');

test('without anything there are the defaults', () => {
  const config = loadConfig();
  assert.equal(config.port, require('../config/default.json').port);
  assert.equal(config.zone, 'Europe/Berlin');
  assert.equal(config.retry.tries, 6);
});

test('the environment comes before the defaults', () => {
  process.env.PIGEON_PORT = '9025';
  process.env.PIGEON_RELAY = 'http://127.0.0.1:99';
  assert.equal(loadConfig().port, 9025);
  assert.equal(loadConfig().relay.url, 'http://127.0.0.1:99');
  assert.equal(loadConfig().relay.timeout, 10000);
});

test('a file comes before the defaults, and keeps what it does not name', () => {
  const file = path.join(os.tmpdir(), 'pigeon-config.json');
  fs.writeFileSync(file, JSON.stringify({ retry: { first: 5 }, zone: 'UTC' }), { flag: 'wx' });
  const config = loadConfig({ config: file });
  fs.rmSync(file);
  assert.equal(config.retry.first, 5);
  assert.equal(config.retry.factor, 3);
  assert.equal(config.zone, 'UTC');
});

test('options come before everything', () => {
  const options = readOptions(['--port', '0', '--data', 'elsewhere']);
  assert.equal(process.env.PIGEON_PORT, '9025');
  assert.equal(loadConfig(options).port, 0);
  assert.equal(loadConfig(options).data, 'elsewhere');
  delete process.env.PIGEON_PORT;
  delete process.env.PIGEON_RELAY;
});

test('mistakes are told', () => {
  assert.throws(() => readOptions(['--prot', '1']), UsageError);
  assert.throws(() => readOptions(['--port']), /needs a value/);
  assert.throws(() => loadConfig({ port: '70000' }), UsageError);
  assert.throws(() => loadConfig({ config: '/nowhere/at-all.json' }), UsageError);
});
