'use strict';

const booking = require('../../booking');
const { unknown } = require('../../errors');
const { viewEntry } = require('../../views');
const { dayIn } = require('../query');

module.exports = [
  {
    method: 'POST',
    path: /^\/entries$/,
    handle: ({ store, body }) => ({ status: 201, body: viewEntry(booking.postEntry(store, body), store.config.currencies) }),
  },
  {
    method: 'GET',
    path: /^\/entries$/,
    handle: ({ store, query }) => {
      const [from, to] = [dayIn(query, 'from') || '', dayIn(query, 'to') || '9999'];
      const account = query.get('account');
      const found = store.books.entries.filter(
        (entry) =>
          entry.date >= from &&
          entry.date <= to &&
          (!account || entry.lines.some((line) => line.account === account)),
      );
      return { status: 200, body: found.map((entry) => viewEntry(entry, store.config.currencies)) };
    },
  },
  {
    method: 'GET',
    path: /^\/entries\/(\d+)$/,
    handle: ({ store, parameters: [id] }) => {
      const entry = store.books.byId.get(Number(id));
      if (!entry) throw unknown(`there is no entry ${id}`);
      return { status: 200, body: viewEntry(entry, store.config.currencies) };
    },
  },
];
