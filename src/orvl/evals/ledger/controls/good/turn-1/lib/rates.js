'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { decimal, tenTo } = require('./decimal');
const { impossible } = require('./errors');
const { divide } = require('./rounding');

const ONE = { numerator: 1n, denominator: 1n };

/** config/rates.csv: how many units of a currency one unit of the base currency buys, from a day on. */
class Rates {
  constructor(text, currencies) {
    this.currencies = currencies;
    this.rows = new Map();
    for (const line of text.split(/\r?\n/).slice(1)) {
      const [date, currency, rate] = line.split(',').map((field) => field.trim());
      if (!currency) continue;
      if (!this.rows.has(currency)) this.rows.set(currency, []);
      this.rows.get(currency).push({ date, rate });
    }
  }

  static load(folder, currencies) {
    const file = path.join(folder, 'rates.csv');
    return new Rates(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '', currencies);
  }

  /** The rate of a day: that of the last day up to it, and of several rows of one day the last one. */
  at(currency, day) {
    if (currency === this.currencies.base) return ONE;
    let found = null;
    for (const row of this.rows.get(currency) || []) {
      if (row.date <= day && (!found || row.date >= found.date)) found = row;
    }
    if (!found) throw impossible(`there is no rate of ${currency} on ${day}`);
    return decimal(found.rate);
  }

  /** What an amount comes to in another currency, rounded once. */
  convert(amount, from, to, day) {
    if (from === to) return amount;
    const [sold, bought] = [this.at(from, day), this.at(to, day)];
    return divide(
      amount * bought.numerator * sold.denominator * tenTo(this.currencies.decimals(to)),
      bought.denominator * sold.numerator * tenTo(this.currencies.decimals(from)),
    );
  }
}

module.exports = { Rates };
