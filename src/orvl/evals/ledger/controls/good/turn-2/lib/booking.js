'use strict';

const fs = require('node:fs');
const path = require('node:path');
const clock = require('./clock');
const money = require('./money');
const { needAccount } = require('./accounts');
const { needDay } = require('./dates');
const { conflict, impossible, malformed } = require('./errors');
const { linesOfSale, sellersOf } = require('./sales');

const MOST_LINES = 100;
const LONGEST_MEMO = 200;

/**
 * What can be booked, each checked and handed to the store. The store numbers and dates the records.
 * Nothing here waits: between looking and appending nobody else gets a turn.
 */

function openAccount(store, body) {
  const account = needAccount(body);
  if (store.books.accounts.has(account.id)) throw conflict(`there is an account ${account.id} already`);
  store.append({ do: 'account', ...account });
  return account;
}

function postEntry(store, body) {
  return book(store, body, needLines(store.books, body.lines), { ref: body.ref });
}

function postSale(store, body) {
  if (typeof body.order !== 'string' || !body.order || body.order.length > 60) throw malformed('order must be a text');
  const { currencies } = store.config;
  currencies.parsePositive(body.gross, currencies.named(body.currency));
  const sellers = sellersOf(body.sellers);
  for (const [account] of sellers) needSeller(store.books, account);
  const sale = { date: dateOf(body), currency: body.currency, gross: body.gross, sellers };
  // Kept as it was booked: rates and rules of later days change nothing.
  return book(store, sale, linesOfSale(sale, store.config), { memo: `sale ${body.order}` });
}

function postPayout(store, body) {
  const currency = store.config.currencies.named(body.currency);
  const amount = store.config.currencies.parsePositive(body.amount, currency);
  needSeller(store.books, body.account);
  const memo = payoutMemo(store, body);
  needOwed(store, body.account, currency, amount);
  const lines = [
    { account: body.account, currency, amount },
    { account: 'bank', currency, amount: -amount },
  ];
  return book(store, body, lines, { memo });
}

/** Changes what we owe a seller into another currency. */
function postConversion(store, body) {
  const { currencies, rates } = store.config;
  const [from, to] = [currencies.named(body.from), currencies.named(body.to)];
  if (body.from === undefined || body.to === undefined) throw malformed('from and to are needed');
  if (from === to) throw malformed('from and to are the same');
  const sold = currencies.parsePositive(body.amount, from);
  needSeller(store.books, body.account);
  const date = dateOf(body);
  needOwed(store, body.account, from, sold);
  const bought = rates.convert(sold, from, to, date);
  if (bought === 0n) throw impossible(`${body.amount} ${from} come to nothing in ${to}`);
  const lines = [
    { account: body.account, currency: from, amount: sold },
    { account: 'fx', currency: from, amount: -sold },
    { account: body.account, currency: to, amount: -bought },
    { account: 'fx', currency: to, amount: bought },
  ];
  return book(store, { ...body, date }, lines);
}

/** Books lines that are known to be right. */
function book(store, body, lines, { memo = memoOf(body), ref } = {}) {
  return store.append({
    do: 'entry',
    date: dateOf(body),
    memo,
    ...(ref ? { ref: String(ref) } : {}),
    lines: store.books.linesOut(lines),
  });
}

/** Payouts without a memo get the one of the week; the file is edited by the people of finance. */
function payoutMemo(store, body) {
  const memo = memoOf(body);
  if (memo) return memo;
  const file = path.join(store.config.folder, 'payout-memo.txt');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().slice(0, LONGEST_MEMO) : 'payout';
}

// -- parts of bodies

function needLines(books, rows) {
  if (!Array.isArray(rows) || rows.length < 2 || rows.length > MOST_LINES) {
    throw malformed(`lines must be a list of 2 to ${MOST_LINES}`);
  }
  const { currencies } = books.config;
  const lines = rows.map((row) => {
    if (!row || typeof row.account !== 'string') throw malformed('each of lines needs an account');
    const currency = currencies.named(row.currency);
    const amount = currencies.parse(row.amount, currency);
    if (amount === 0n) throw malformed('an amount of 0 books nothing');
    return { account: row.account, currency, amount };
  });
  for (const { account } of lines) {
    if (!books.accounts.has(account)) throw impossible(`there is no account ${account}`);
  }
  for (const currency of new Set(lines.map((line) => line.currency))) needZero(lines, currency, currencies);
  return lines;
}

function needZero(lines, currency, currencies) {
  const total = money.sum(lines.filter((line) => line.currency === currency).map(({ amount }) => amount));
  if (total !== 0n) throw impossible(`the lines come to ${currencies.format(total, currency)} ${currency}, not to 0`);
}

function needSeller(books, id) {
  const account = books.accounts.get(id);
  if (!account) throw impossible(`there is no account ${id}`);
  if (account.kind !== 'seller') throw impossible(`${id} is no seller`);
}

function needOwed(store, account, currency, amount) {
  const owed = store.books.owed(account, currency);
  if (amount > owed) {
    throw impossible(`we owe ${account} ${store.config.currencies.format(owed, currency)} ${currency}, and no more`);
  }
}

function dateOf(body) {
  return body.date === undefined ? clock.today() : needDay(body.date);
}

function memoOf(body) {
  if (body.memo === undefined) return '';
  if (typeof body.memo !== 'string' || body.memo.length > LONGEST_MEMO) {
    throw malformed(`memo must be a text of ${LONGEST_MEMO} characters at most`);
  }
  return body.memo;
}

module.exports = { openAccount, postEntry, postSale, postPayout, postConversion };
