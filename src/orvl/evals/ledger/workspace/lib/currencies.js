'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { malformed } = require('./errors');

/** The table in config/currencies.json. Only the base currency can be booked so far; the rest is for labels. */
class Currencies {
  constructor({ base, currencies }) {
    this.base = base;
    this.table = new Map(Object.entries(currencies));
  }

  static load(folder) {
    const file = path.join(folder, 'currencies.json');
    return new Currencies(JSON.parse(fs.readFileSync(file, 'utf8')));
  }

  has(code) {
    return this.table.has(code);
  }

  decimals(code) {
    if (!this.has(code)) throw malformed(`${JSON.stringify(code)} is no currency that we know`);
    return this.table.get(code).decimals;
  }

  name(code) {
    return this.has(code) ? this.table.get(code).name : code;
  }
}

module.exports = { Currencies };
