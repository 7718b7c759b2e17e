'use strict';

const { BUILT_IN } = require('./accounts');
const { dayOf } = require('./dates');
const { HALF_UP } = require('./rounding');
const { linesOfSale } = require('./sales');

const LAST_DAY = '9999-12-31';

/** The books in memory: what the records of the journal come to. */
class Books {
  constructor(config) {
    this.config = config;
    this.accounts = new Map(BUILT_IN.map((account) => [account.id, account]));
    this.entries = [];
    this.byId = new Map();
    this.references = new Set();
    /** By the id of an entry that was taken back: its reversal. */
    this.reversed = new Map();
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
    if (record.do === 'correction') return this.correct(record);
    if (record.do === 'entry') return this.add(record, this.linesIn(record.lines));
    if (record.do === 'sale') return this.oldSale(record);
    throw new Error(`no such record: ${record.do}`);
  }

  /** Sales of before there were currencies have no lines: they are rounded as they were then. */
  oldSale(record) {
    return this.add({ ...record, memo: `sale ${record.order}` }, linesOfSale(record, this.config, HALF_UP));
  }

  /** Takes an entry back, and books what should have been there. Its record has two numbers if it makes two entries. */
  correct(record) {
    const { n, at, of, date, memo, lines, key, asked } = record;
    const wrong = this.byId.get(of);
    const back = wrong.lines.map((line) => ({ ...line, amount: -line.amount }));
    const reversal = { n, at, date: wrong.date, memo: `reversal of ${of}`, reverses: of, key, asked };
    const entry = this.add(reversal, back);
    if (lines) {
      this.add({ n: n + 1, at, date, memo, corrects: of }, this.linesIn(lines));
      this.last = n + 1;
    }
    return entry;
  }

  add({ n, at, date, memo, ref, reverses, corrects, key, asked }, lines) {
    const entry = { id: n, booked: at, date, memo: memo || '', lines };
    if (reverses) this.reversed.set(reverses, n);
    if (key !== undefined) this.keys.set(key, { asked, id: n });
    if (ref) this.references.add(ref);
    Object.assign(entry, given({ ref, reverses, corrects }));
    this.entries.push(entry);
    this.byId.set(n, entry);
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

  /** The balances of all accounts, by account and currency: by the end of `date`, as far as it was known on the day `known`. */
  balances({ date = LAST_DAY, known = LAST_DAY } = {}) {
    const found = new Map([...this.accounts.keys()].sort().map((id) => [id, new Map()]));
    for (const entry of this.entries) {
      if (entry.date > date || dayOf(entry.booked) > known) continue;
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

const given = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

module.exports = { Books };
