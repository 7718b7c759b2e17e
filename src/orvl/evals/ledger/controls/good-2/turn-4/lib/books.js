'use strict';

const { BUILT_IN } = require('./accounts');
const { addDays } = require('./dates');
const { linesOfOldSale } = require('./old-sales');

/** The state that the records of the journal lead to, with running totals by account, currency and day. */
class Books {
  constructor(config) {
    this.config = config;
    this.accounts = new Map(BUILT_IN.map((account) => [account.id, account]));
    this.entries = [];
    this.byId = new Map();
    this.references = new Set();
    this.takenBack = new Set();
    this.nextId = 1;
    this.nextNumber = 1;
  }

  take(record) {
    this.nextNumber = record.n + 1;
    if (record.do === 'account') {
      const { id, name, kind } = record;
      return this.accounts.set(id, { id, name, kind }).get(id);
    }
    if (record.do === 'entry') return this.enter(record, this.read(record.lines));
    if (record.do === 'sale') return this.enter({ ...record, memo: `sale ${record.order}` }, this.linesOfSale(record));
    if (record.do === 'correction') return this.correct(record);
    throw new Error(`no such record: ${record.do}`);
  }

  /** Sales of before there were currencies have no lines of their own. */
  linesOfSale(record) {
    if (record.lines) return this.read(record.lines);
    const { currencies, exchange } = this.config;
    const { base } = currencies;
    const lines = linesOfOldSale(record, exchange.fees, (text) => currencies.parse(text, base));
    return lines.map(([account, amount]) => ({ account, currency: base, amount }));
  }

  /** A record with two entries, or with one that only takes back. */
  correct({ n, at, reversal, entry }) {
    const both = [reversal, entry].filter(Boolean).map((one) => this.enter({ n, at, ...one }, this.read(one.lines)));
    this.takenBack.add(reversal.reverses);
    return { reversal: both[0], entry: both[1] || null };
  }

  enter({ n, id = n, at, date, memo = '', ref, reverses, corrects }, lines) {
    const links = { ...(ref && { ref }), ...(reverses && { reverses }), ...(corrects && { corrects }) };
    const entry = { id, booked: at, date, memo, lines, ...links };
    this.nextId = Math.max(this.nextId, id + 1);
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

  /** By the end of `date`, of what was booked by the end of `known`. */
  balances({ date = '9999-12-31', known = '9999-01-01' } = {}) {
    const found = new Map();
    for (const id of [...this.accounts.keys()].sort()) found.set(id, new Map());
    for (const entry of this.entries.filter((one) => one.date <= date && one.booked < addDays(known, 1))) {
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
