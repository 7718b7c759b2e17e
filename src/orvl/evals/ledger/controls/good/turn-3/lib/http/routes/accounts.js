'use strict';

const booking = require('../../booking');
const { unknown } = require('../../errors');
const { statement } = require('../../reports/statement');
const { viewAccount, viewBalances } = require('../../views');
const { dayIn, daysIn } = require('../query');

function find(books, id) {
  const account = books.accounts.get(id);
  if (!account) throw unknown(`there is no account ${id}`);
  return account;
}

module.exports = [
  {
    method: 'POST',
    path: /^\/accounts$/,
    handle: ({ store, body }) => ({ status: 201, body: booking.openAccount(store, body) }),
  },
  {
    method: 'GET',
    path: /^\/accounts$/,
    handle: ({ store }) => ({
      status: 200,
      body: [...store.books.accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    }),
  },
  {
    method: 'GET',
    path: /^\/accounts\/([^/]+)$/,
    handle: ({ store, query, parameters: [id] }) => ({
      status: 200,
      body: viewAccount(find(store.books, id), store.books, daysIn(query)),
    }),
  },
  {
    method: 'GET',
    path: /^\/accounts\/([^/]+)\/statement$/,
    handle: ({ store, query, parameters: [id] }) => {
      find(store.books, id);
      return { status: 200, body: statement(store.books, id, dayIn(query, 'from'), dayIn(query, 'to')) };
    },
  },
  {
    method: 'GET',
    path: /^\/balances$/,
    handle: ({ store, query }) => ({ status: 200, body: viewBalances(store.books, daysIn(query)) }),
  },
];
