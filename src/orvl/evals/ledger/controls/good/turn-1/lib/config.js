'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { Currencies } = require('./currencies');
const { FeeRules } = require('./fees');
const { Rates } = require('./rates');

const DEFAULTS = { flushMs: 250, snapshotEvery: 100, bodyLimit: 1 << 20 };

/** Everything in the folder of the configuration, read once at the start. */
function loadConfig(folder) {
  const currencies = Currencies.load(folder);
  const rates = Rates.load(folder, currencies);
  return {
    folder,
    settings: { ...DEFAULTS, ...readJson(path.join(folder, 'settings.json'), {}) },
    currencies,
    rates,
    fees: FeeRules.load(folder, rates),
  };
}

function readJson(file, otherwise) {
  if (!fs.existsSync(file)) return otherwise;
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

module.exports = { loadConfig, DEFAULTS };
