'use strict';

const fs = require('node:fs');
const path = require('node:path');
const money = require('./money');

/** Rules of config/fees.json, each from a day on. */
class FeeRules {
  constructor(rules) {
    this.rules = [...rules].sort((a, b) => (a.from < b.from ? -1 : 1));
  }

  static load(folder) {
    return new FeeRules(JSON.parse(fs.readFileSync(path.join(folder, 'fees.json'), 'utf8')));
  }

  /** The rule of a day: the last one that has begun. Before the first there are no fees. */
  at(day) {
    let found = { from: '', percent: '0', fixed: '0' };
    for (const rule of this.rules) if (rule.from <= day) found = rule;
    return found;
  }

  /** Our fee on a sale, in cents: the percentage, rounded, and the fixed part; never more than the sale. */
  on(gross, day) {
    const rule = this.at(day);
    const percentage = Math.round((Number(gross) * Number(rule.percent)) / 100);
    const fee = BigInt(percentage) + money.parse(rule.fixed);
    return fee > gross ? gross : fee;
  }
}

module.exports = { FeeRules };
