'use strict';

const clock = require('./clock');
const money = require('./money');
const { needAccount } = require('./accounts');
const { needDay } = require('./dates');
const { conflict, impossible, malformed } = require('./errors');
const { sellersOf } = require('./sales');

const MOST_LINES = 100;
const LONGEST_MEMO = 200;

/** What can be booked, each checked and handed to the store. The store numbers and dates the records. */

function openAccount(store, body) {
  const account = needAccount(body);
  if (store.books.accounts.has(account.id)) throw conflict(`there is an account ${account.id} already`);
  store.append({ do: 'account', ...account });
  return account;
}

function postEntry(store, body) {
  const lines = needLines(store.books, body.lines);
  return store.append({
    do: 'entry',
    date: dateOf(body),
    memo: memoOf(body),
    ...(body.ref ? { ref: String(body.ref) } : {}),
    lines: lines.map(({ account, amount }) => [account, money.format(amount)]),
  });
}

function postSale(store, body) {
  if (typeof body.order !== 'string' || !body.order || body.order.length > 60) throw malformed('order must be a text');
  money.parsePositive(body.gross);
  const sellers = sellersOf(body.sellers);
  for (const [account] of sellers) needSeller(store.books, account);
  return store.append({ do: 'sale', date: dateOf(body), order: body.order, gross: body.gross, sellers });
}

async function postPayout(store, body) {
  const amount = money.parsePositive(body.amount);
  needSeller(store.books, body.account);
  const owed = store.books.owed(body.account);
  const memo = await payoutMemo(store, body);
  if (amount > owed) throw impossible(`we owe ${body.account} ${money.format(owed)}, not ${body.amount}`);
  const text = money.format(amount);
  return store.append({
    do: 'entry',
    date: dateOf(body),
    memo,
    lines: [
      [body.account, text],
      ['bank', `-${text}`],
    ],
  });
}

/** Payouts without a memo get the next one of the week; the file is edited by the people of finance. */
async function payoutMemo(store, body) {
  const memo = memoOf(body);
  if (memo) return memo;
  const { readFile } = require('node:fs/promises');
  const path = require('node:path');
  const text = await readFile(path.join(store.config.folder, 'payout-memo.txt'), 'utf8').catch(() => 'payout');
  return text.trim().slice(0, LONGEST_MEMO);
}

// -- parts of bodies

function needLines(books, rows) {
  if (!Array.isArray(rows) || rows.length < 2 || rows.length > MOST_LINES) {
    throw malformed(`lines must be a list of 2 to ${MOST_LINES}`);
  }
  const lines = rows.map((row) => {
    if (!row || typeof row.account !== 'string') throw malformed('each of lines needs an account');
    const amount = money.parse(row.amount);
    if (amount === 0n) throw malformed('an amount of 0 books nothing');
    return { account: row.account, amount };
  });
  for (const { account } of lines) {
    if (!books.accounts.has(account)) throw impossible(`there is no account ${account}`);
  }
  const total = money.sum(lines.map(({ amount }) => amount));
  if (total !== 0n) throw impossible(`the lines come to ${money.format(total)}, not to 0`);
  return lines;
}

function needSeller(books, id) {
  const account = books.accounts.get(id);
  if (!account) throw impossible(`there is no account ${id}`);
  if (account.kind !== 'seller') throw impossible(`${id} is no seller`);
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

module.exports = { openAccount, postEntry, postSale, postPayout };
