'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { readOptions, loadConfig, UsageError } = require('../src/config');
const { temporaryFolder } = require('./support/stand-ins');

const ENV = { PIGEON_PORT: '9026', PIGEON_RELAY: 'http://127.0.0.1:99' };

test('without anything there are the defaults', () => {
  const config = loadConfig({}, {});
  assert.equal(config.port, require('../config/default.json').port);
  assert.equal(config.zone, 'Europe/Berlin');
  assert.equal(config.retry.tries, 6);
});

test('the environment comes before the defaults', () => {
  const config = loadConfig({}, ENV);
  assert.equal(config.port, 9026);
  assert.equal(config.relay.url, 'http://127.0.0.1:99');
  assert.equal(config.relay.timeout, 10000);
});

test('a file comes before the defaults, and keeps what it does not name', (t) => {
  const file = path.join(temporaryFolder(t), 'config.json');
  fs.writeFileSync(file, JSON.stringify({ retry: { first: 5 }, zone: 'UTC' }));
  const config = loadConfig({ config: file }, {});
  assert.equal(config.retry.first, 5);
  assert.equal(config.retry.factor, 3);
  assert.equal(config.zone, 'UTC');
});

test('options come before everything', () => {
  const options = readOptions(['--port', '0', '--data', 'elsewhere']);
  assert.equal(loadConfig(options, ENV).port, 0);
  assert.equal(loadConfig(options, ENV).data, 'elsewhere');
});

test('mistakes are told', () => {
  assert.throws(() => readOptions(['--prot', '1']), UsageError);
  assert.throws(() => readOptions(['--port']), /needs a value/);
  assert.throws(() => loadConfig({ port: '70000' }, {}), UsageError);
  assert.throws(() => loadConfig({ config: '/nowhere/at-all.json' }, {}), UsageError);
});
