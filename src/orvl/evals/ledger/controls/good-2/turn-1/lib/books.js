'use strict';

const { BUILT_IN } = require('./accounts');
const { saleLines } = require('./plans');

/** The state that the records of the journal lead to, with running totals by account, currency and day. */
class Books {
  constructor(config) {
    this.config = config;
    this.accounts = new Map(BUILT_IN.map((account) => [account.id, account]));
    this.entries = [];
    this.byId = new Map();
    this.references = new Set();
  }

  take(record) {
    if (record.do === 'account') {
      const { id, name, kind } = record;
      return this.accounts.set(id, { id, name, kind }).get(id);
    }
    if (record.do === 'entry') return this.enter({ ...record, id: record.n }, this.read(record.lines));
    if (record.do === 'sale') return this.enter({ ...record, id: record.n, memo: `sale ${record.order}` }, this.linesOfSale(record));
    throw new Error(`no such record: ${record.do}`);
  }

  /** Sales of before there were currencies have no lines of their own. */
  linesOfSale(record) {
    if (record.lines) return this.read(record.lines);
    const { base } = this.config.currencies;
    const gross = this.config.currencies.parse(record.gross, base);
    return saleLines(this.config.exchange, { ...record, gross, currency: base });
  }

  enter({ id, at, date, memo = '', ref }, lines) {
    const entry = { id, booked: at, date, memo, lines, ...(ref && { ref }) };
    if (ref) this.references.add(ref);
    this.entries.push(entry);
    this.byId.set(id, entry);
    return entry;
  }

  read(rows) {
    const { currencies } = this.config;
    return rows.map(([account, text, currency = currencies.base]) => {
      return { account, currency, amount: currencies.parse(text, currency) };
    });
  }

  balances(date = '9999-12-31') {
    const found = new Map();
    for (const id of [...this.accounts.keys()].sort()) found.set(id, new Map());
    for (const entry of this.entries.filter((one) => one.date <= date)) {
      for (const { account, currency, amount } of entry.lines) {
        const row = found.get(account);
        row.set(currency, amount + (row.get(currency) || 0n));
      }
    }
    return found;
  }

  owed(account, currency) {
    let owed = 0n;
    for (const { lines } of this.entries) {
      for (const line of lines) if (line.account === account && line.currency === currency) owed -= line.amount;
    }
    return owed;
  }
}

module.exports = { Books };
