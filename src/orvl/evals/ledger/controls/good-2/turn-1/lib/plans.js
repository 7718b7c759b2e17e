'use strict';

const { conflict, impossible, malformed } = require('./errors');
const { isDay } = require('./dates');
const { needAccount } = require('./accounts');
const { divideAmong } = require('./round');

/**
 * Plans: each makes, of what somebody asks for, the record that would book it, or refuses. Nothing is changed here.
 * `books` is the state, `today` the default of dates.
 */

function account({ books }, body) {
  const wanted = needAccount(body);
  if (books.accounts.has(wanted.id)) throw conflict(`${wanted.id} is there already`);
  return { do: 'account', ...wanted };
}

function entry({ books, config, today }, body) {
  const lines = linesOf(body.lines, books, config.currencies);
  return { do: 'entry', ...dayAndMemo(body, today), ...(body.ref ? { ref: `${body.ref}` } : {}), lines: texts(lines, config) };
}

function sale({ books, config, today }, body) {
  const { currencies } = config;
  const currency = currencies.named(body.currency);
  const gross = currencies.parsePositive(body.gross, currency);
  need(typeof body.order === 'string' && body.order.length > 0 && body.order.length <= 60, 'order must be a text');
  const sellers = sellersOf(body.sellers);
  for (const [seller] of sellers) needSeller(books, seller);
  const { date } = dayAndMemo(body, today);
  const lines = saleLines(config.exchange, { gross, currency, date, sellers });
  return { do: 'sale', date, order: body.order, gross: body.gross, currency, sellers, lines: texts(lines, config) };
}

function payout({ books, config, today }, body, weekly) {
  const currency = config.currencies.named(body.currency);
  const amount = config.currencies.parsePositive(body.amount, currency);
  needOwed(books, body.account, currency, amount, config);
  const { date, memo } = dayAndMemo(body, today);
  const lines = pair(currency, amount, body.account, 'bank');
  return { do: 'entry', date, memo: memo || weekly, lines: texts(lines, config) };
}

function conversion({ books, config, today }, { from, to, ...body }) {
  need(typeof from === 'string' && typeof to === 'string' && from !== to, 'from and to must be two currencies');
  const amount = config.currencies.parsePositive(body.amount, config.currencies.named(from));
  config.currencies.named(to);
  const { date, memo } = dayAndMemo(body, today);
  needOwed(books, body.account, from, amount, config);
  const value = config.exchange.change(amount, from, to, date);
  if (value === 0n) throw impossible(`${body.amount} ${from} are nothing in ${to}`);
  const lines = [...pair(from, amount, body.account, 'fx'), ...pair(to, value, 'fx', body.account)];
  return { do: 'entry', date, memo, lines: texts(lines, config) };
}

// -- lines

/** What a sale comes to, by today's rules. */
function saleLines(exchange, { gross, currency, date, sellers }) {
  const fee = exchange.fee(gross, currency, date);
  const parts = divideAmong(
    gross - fee,
    sellers.map(([, share]) => share),
  );
  const lines = [
    { account: 'cash', currency, amount: gross },
    { account: 'revenue:fees', currency, amount: -fee },
  ];
  sellers.forEach(([seller], at) => lines.push({ account: seller, currency, amount: -parts[at] }));
  return lines.filter(({ amount }) => amount);
}

const pair = (currency, amount, to, from) => [
  { account: to, currency, amount },
  { account: from, currency, amount: -amount },
];

const texts = (lines, { currencies }) =>
  lines.map(({ account: id, currency, amount }) => [id, currencies.format(amount, currency), currency]);

function linesOf(rows, books, currencies) {
  need(Array.isArray(rows) && rows.length >= 2 && rows.length <= 100, 'lines must be a list of 2 to 100');
  const sums = new Map();
  const lines = rows.map((row) => {
    need(row && typeof row.account === 'string', 'a line needs an account');
    const currency = currencies.named(row.currency);
    const amount = currencies.parse(row.amount, currency);
    need(amount !== 0n, 'a line of 0 books nothing');
    sums.set(currency, (sums.get(currency) || 0n) + amount);
    return { account: row.account, currency, amount };
  });
  const stranger = lines.find(({ account: id }) => !books.accounts.has(id));
  if (stranger) throw impossible(`${stranger.account} is no account`);
  const [open] = [...sums].filter(([, sum]) => sum !== 0n);
  if (open) throw impossible(`what is booked in ${open[0]} comes to ${currencies.format(open[1], open[0])}`);
  return lines;
}

// -- what bodies must have

function need(holds, sentence) {
  if (!holds) throw malformed(sentence);
}

function dayAndMemo({ date, memo = '' }, today) {
  need(date === undefined || isDay(date), 'date must be a day such as 2024-02-29');
  need(typeof memo === 'string' && memo.length <= 200, 'memo must be a text of 200 characters at most');
  return { date: date === undefined ? today() : date, memo };
}

function sellersOf(rows) {
  need(Array.isArray(rows) && rows.length >= 1 && rows.length <= 50, 'sellers must be a list of 1 to 50');
  const sellers = rows.map((row) => {
    need(row && typeof row.account === 'string', 'a seller needs an account');
    need(Number.isInteger(row.share) && row.share >= 1 && row.share <= 10000, 'shares are whole numbers from 1 to 10000');
    return [row.account, row.share];
  });
  need(new Set(sellers.map(([id]) => id)).size === sellers.length, 'a seller is there twice');
  return sellers;
}

function needSeller(books, id) {
  const found = books.accounts.get(id);
  if (!found || found.kind !== 'seller') throw impossible(`${id} is no seller`);
}

function needOwed(books, id, currency, amount, { currencies }) {
  needSeller(books, id);
  const owed = books.owed(id, currency);
  if (owed < amount) throw impossible(`we owe ${id} no more than ${currencies.format(owed, currency)} ${currency}`);
}

module.exports = { account, entry, sale, payout, conversion, saleLines };
