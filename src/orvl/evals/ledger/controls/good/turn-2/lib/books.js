'use strict';

const { BUILT_IN } = require('./accounts');
const { linesOfSale } = require('./sales');

/** The books in memory: what the records of the journal come to. */
class Books {
  constructor(config) {
    this.config = config;
    this.accounts = new Map(BUILT_IN.map((account) => [account.id, account]));
    this.entries = [];
    this.byId = new Map();
    this.references = new Set();
    /** By idempotency key: what was asked for, and the entry that it made. */
    this.keys = new Map();
    this.last = 0;
  }

  /** Takes a record of the journal into account; docs/storage.md lists the kinds. */
  apply(record) {
    this.last = record.n;
    if (record.do === 'account') {
      this.accounts.set(record.id, { id: record.id, name: record.name, kind: record.kind });
      return null;
    }
    if (record.do === 'entry') return this.add(record, this.linesIn(record.lines));
    if (record.do === 'sale') return this.add({ ...record, memo: `sale ${record.order}` }, linesOfSale(record, this.config));
    throw new Error(`no such record: ${record.do}`);
  }

  add({ n, at, date, memo, ref, key, asked }, lines) {
    const entry = { id: n, booked: at, date, memo: memo || '', lines };
    if (ref) {
      entry.ref = ref;
      this.references.add(ref);
    }
    this.entries.push(entry);
    this.byId.set(entry.id, entry);
    if (key !== undefined) this.keys.set(key, { asked, id: entry.id });
    return entry;
  }

  /** Lines as they are in files; those of before there were currencies are in the base currency. */
  linesIn(rows) {
    const { currencies } = this.config;
    return rows.map(([account, amount, currency = currencies.base]) => ({
      account,
      currency,
      amount: currencies.parse(amount, currency),
    }));
  }

  linesOut(lines) {
    const { currencies } = this.config;
    return lines.map(({ account, currency, amount }) => [account, currencies.format(amount, currency), currency]);
  }

  /** The balances of all accounts by the end of a day: by account and currency. */
  balances(date = '9999-12-31') {
    const found = new Map([...this.accounts.keys()].sort().map((id) => [id, new Map()]));
    for (const entry of this.entries) {
      if (entry.date > date) continue;
      for (const { account, currency, amount } of entry.lines) {
        const balances = found.get(account);
        balances.set(currency, (balances.get(currency) || 0n) + amount);
      }
    }
    return found;
  }

  /** What we owe a seller in a currency: their balance is on the credit side. */
  owed(account, currency) {
    return -(this.balances().get(account).get(currency) || 0n);
  }
}

module.exports = { Books };
