'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { impossible } = require('./errors');
const { Fraction } = require('./round');

/** What money costs: rates of config/rates.csv, and our fees of config/fees.json. */
class Exchange {
  constructor(folder, currencies) {
    this.currencies = currencies;
    this.fees = JSON.parse(fs.readFileSync(path.join(folder, 'fees.json'), 'utf8'));
    const file = path.join(folder, 'rates.csv');
    const [, ...rows] = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : [];
    // Stable: of several rows for one day, the last one in the file stays the last.
    this.rates = rows.map((row) => row.trim().split(',')).filter((row) => row.length === 3);
    this.rates.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  }

  /** How many coins of a currency one euro buys on a day. */
  coins(code, day) {
    const coins = new Fraction(10n ** BigInt(this.currencies.decimals(code)));
    if (code === this.currencies.base) return coins;
    const row = this.rates.filter(([date, currency]) => currency === code && date <= day).pop();
    if (!row) throw impossible(`${code} had no rate yet on ${day}`);
    return coins.times(Fraction.of(row[2]));
  }

  change(amount, from, to, day) {
    return new Fraction(amount).by(this.coins(from, day)).times(this.coins(to, day)).round();
  }

  /** What we keep of a sale. */
  fee(gross, code, day) {
    const { percent, fixed } = this.feeRule(day);
    const variable = new Fraction(gross).times(Fraction.of(percent)).by(new Fraction(100n)).round();
    const fee = variable + this.fixedFee(fixed, code, day);
    return fee < gross ? fee : gross;
  }

  fixedFee(fixed, code, day) {
    const { base } = this.currencies;
    const amount = this.currencies.parse(fixed, base);
    return code === base || !amount ? amount : this.change(amount, base, code, day);
  }

  feeRule(day) {
    const begun = this.fees.filter(({ from }) => from <= day).sort((one, other) => (one.from < other.from ? -1 : 1));
    return begun.pop() || { percent: '0', fixed: '0' };
  }
}

module.exports = { Exchange };
