'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { Currencies } = require('./currencies');
const { FeeRules } = require('./fees');

const DEFAULTS = { flushMs: 250, snapshotEvery: 100, bodyLimit: 1 << 20 };

/** Everything in the folder of the configuration, read once at the start. */
function loadConfig(folder) {
  return {
    folder,
    settings: { ...DEFAULTS, ...readJson(path.join(folder, 'settings.json'), {}) },
    currencies: Currencies.load(folder),
    fees: FeeRules.load(folder),
  };
}

function readJson(file, otherwise) {
  if (!fs.existsSync(file)) return otherwise;
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

module.exports = { loadConfig, DEFAULTS };
