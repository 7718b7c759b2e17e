'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { parseAddress } = require('./address');
const { timeOfDay } = require('./planner');

const DEFAULTS = path.join(__dirname, '..', 'config', 'default.json');

/** A mistake of whoever starts the program. */
class UsageError extends Error {}

const FLAGS = { '--config': 'config', '--data': 'data', '--port': 'port' };

function readOptions(words) {
  const found = {};
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === '--help') return { help: true };
    const name = Object.hasOwn(FLAGS, words[at]) ? FLAGS[words[at]] : null;
    if (!name) throw new UsageError(`does not know ${words[at]}`);
    at += 1;
    if (at === words.length) throw new UsageError(`${words[at - 1]} needs a value`);
    found[name] = words[at];
  }
  return found;
}

/** Defaults, then a file, then the environment (PIGEON_PORT, PIGEON_RELAY), then options. */
function loadConfig(options = {}, env = process.env) {
  const config = merged(readJson(DEFAULTS), options.config ? readJson(options.config) : {});
  if (env.PIGEON_PORT) config.port = env.PIGEON_PORT;
  if (env.PIGEON_RELAY) config.relay.url = env.PIGEON_RELAY;
  if (options.data) config.data = options.data;
  if (options.port !== undefined) config.port = options.port;
  return checked(config);
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${error.message}`);
  }
}

function merged(one, other) {
  const found = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const isInner = value && typeof value === 'object' && !Array.isArray(value) && one[key];
    found[key] = isInner ? merged(one[key], value) : value;
  }
  return found;
}

function checked(config) {
  const port = Number(config.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new UsageError(`no port: ${config.port}`);
  if (!isZone(config.zone)) throw new UsageError(`no time zone: ${config.zone}`);
  try {
    parseAddress(config.sender);
    for (const time of [config.digest, config.quiet?.from, config.quiet?.to]) if (time) timeOfDay(time);
  } catch (error) {
    throw new UsageError(error.message);
  }
  return { ...config, port };
}

function isZone(zone) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return typeof zone === 'string';
  } catch {
    return false;
  }
}

module.exports = { readOptions, loadConfig, UsageError };
