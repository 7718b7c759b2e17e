'use strict';

const fs = require('node:fs');
const path = require('node:path');
const money = require('./money');
const { malformed } = require('./errors');

/** The table in config/currencies.json: texts to amounts and back, with the decimals of each currency. */
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

  /** The currency that somebody named, or the base currency. */
  named(code = this.base) {
    this.decimals(code);
    return code;
  }

  parse(text, code) {
    return money.parse(text, this.decimals(code));
  }

  /** Like parse, but refuses zero and less. */
  parsePositive(text, code) {
    const amount = this.parse(text, code);
    if (amount <= 0n) throw malformed(`${JSON.stringify(text)} is not more than 0`);
    return amount;
  }

  format(amount, code) {
    return money.format(amount, this.decimals(code));
  }
}

module.exports = { Currencies };
