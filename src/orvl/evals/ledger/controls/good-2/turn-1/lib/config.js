'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { Currencies } = require('./currencies');
const { Exchange } = require('./exchange');

const DEFAULTS = { flushMs: 250, bodyLimit: 1 << 20 };

/** Everything in the folder of the configuration, read once at the start. */
function loadConfig(folder) {
  const file = path.join(folder, 'settings.json');
  const currencies = Currencies.load(folder);
  return {
    folder,
    settings: { ...DEFAULTS, ...(fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}) },
    currencies,
    exchange: new Exchange(folder, currencies),
  };
}

module.exports = { loadConfig, DEFAULTS };
