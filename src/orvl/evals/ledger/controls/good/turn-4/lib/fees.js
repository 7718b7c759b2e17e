'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { decimal } = require('./decimal');
const { divide } = require('./rounding');

/** Rules of config/fees.json, each from a day on. */
class FeeRules {
  constructor(rules, rates) {
    this.rules = [...rules].sort((a, b) => (a.from < b.from ? -1 : 1));
    this.rates = rates;
  }

  static load(folder, rates) {
    return new FeeRules(JSON.parse(fs.readFileSync(path.join(folder, 'fees.json'), 'utf8')), rates);
  }

  /** The rule of a day: the last one that has begun. Before the first there are no fees. */
  at(day) {
    let found = { from: '', percent: '0', fixed: '0' };
    for (const rule of this.rules) if (rule.from <= day) found = rule;
    return found;
  }

  /** Our fee on a sale: the percentage, rounded, and the fixed part; never more than the sale. */
  on(gross, currency, day, rounding) {
    const rule = this.at(day);
    const percent = decimal(rule.percent);
    const percentage = divide(gross * percent.numerator, 100n * percent.denominator, rounding);
    const fee = percentage + this.fixedPart(rule, currency, day);
    return fee > gross ? gross : fee;
  }

  fixedPart({ fixed }, currency, day) {
    const { currencies } = this.rates;
    const amount = currencies.parse(fixed, currencies.base);
    return amount === 0n ? 0n : this.rates.convert(amount, currencies.base, currency, day);
  }
}

module.exports = { FeeRules };
