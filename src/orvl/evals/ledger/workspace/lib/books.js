'use strict';

const money = require('./money');
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
    this.last = 0;
  }

  /** Takes a record of the journal into account; docs/storage.md lists the kinds. */
  apply(record) {
    this.last = record.n;
    if (record.do === 'account') {
      this.accounts.set(record.id, { id: record.id, name: record.name, kind: record.kind });
      return null;
    }
    if (record.do === 'entry') return this.add(record, entryLines(record.lines));
    if (record.do === 'sale') return this.add({ ...record, memo: saleMemo(record) }, linesOfSale(record, this.config.fees));
    throw new Error(`no such record: ${record.do}`);
  }

  add({ n, at, date, memo, ref }, lines) {
    const entry = { id: n, booked: at, date, memo: memo || '', lines };
    if (ref) {
      entry.ref = ref;
      this.references.add(ref);
    }
    this.entries.push(entry);
    this.byId.set(entry.id, entry);
    return entry;
  }

  /** The balance of an account in cents, by the end of a day. */
  balance(account, date = '9999-12-31') {
    let total = 0n;
    for (const entry of this.entries) {
      if (entry.date > date) continue;
      for (const line of entry.lines) if (line.account === account) total += line.amount;
    }
    return total;
  }

  /** All balances at once, by account. */
  balances(date = '9999-12-31') {
    const found = new Map([...this.accounts.keys()].sort().map((id) => [id, 0n]));
    for (const entry of this.entries) {
      if (entry.date > date) continue;
      for (const line of entry.lines) found.set(line.account, (found.get(line.account) || 0n) + line.amount);
    }
    return found;
  }

  /** What we owe a seller: their balance is on the credit side. */
  owed(account) {
    return -this.balance(account);
  }
}

const entryLines = (rows) => rows.map(([account, amount]) => ({ account, amount: money.parse(amount) }));
const saleMemo = (record) => `sale ${record.order}`;

module.exports = { Books };
