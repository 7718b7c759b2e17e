'use strict';

module.exports = [
  {
    method: 'GET',
    path: /^\/health$/,
    handle: ({ store }) => ({ status: 200, body: { ok: true, entries: store.books.entries.length } }),
  },
];
