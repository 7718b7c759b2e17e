'use strict';

const booking = require('../../booking');
const { unknown } = require('../../errors');
const { viewEntry } = require('../../views');
const { dayIn } = require('../query');

module.exports = [
  {
    method: 'POST',
    path: /^\/entries$/,
    handle: ({ store, body }) => ({ status: 201, body: viewEntry(booking.postEntry(store, body)) }),
  },
  {
    method: 'GET',
    path: /^\/entries$/,
    handle: ({ store, query }) => {
      const [from, to] = [dayIn(query, 'from') || '', dayIn(query, 'to') || '9999'  {
    method: 'POST',
    path: /^\/entries\/(\d+)\/correction$/,
    handle: ({ store, body, parameters: [id] }) => {
      const entry = store.books.byId.get(Number(id));
      if (!entry) throw unknown(`there is no entry ${id}`);
      if (body.memo) entry.memo = body.memo;
      if (body.date) entry.date = body.date;
      return { status: 201, body: { reversal: viewEntry(entry), entry: viewEntry(entry) } };
    },
  },
];
      const account = query.get('account');
      const found = store.books.entries.filter(
        (entry) =>
          entry.date >= from &&
          entry.date <= to &&
          (!account || entry.lines.some((line) => line.account === account)),
      );
      return { status: 200, body: found.map(viewEntry) };
    },
  },
  {
    method: 'GET',
    path: /^\/entries\/(\d+)$/,
    handle: ({ store, parameters: [id] }) => {
      const entry = store.books.byId.get(Number(id));
      if (!entry) throw unknown(`there is no entry ${id}`);
      return { status: 200, body: viewEntry(entry) };
    },
  },
  {
    method: 'POST',
    path: /^\/entries\/(\d+)\/correction$/,
    handle: ({ store, body, parameters: [id] }) => {
      const entry = store.books.byId.get(Number(id));
      if (!entry) throw unknown(`there is no entry ${id}`);
      if (body.memo) entry.memo = body.memo;
      if (body.date) entry.date = body.date;
      return { status: 201, body: { reversal: viewEntry(entry), entry: viewEntry(entry) } };
    },
  },
];
