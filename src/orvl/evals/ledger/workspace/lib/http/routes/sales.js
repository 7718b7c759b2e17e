'use strict';

const booking = require('../../booking');
const { viewEntry } = require('../../views');

module.exports = [
  {
    method: 'POST',
    path: /^\/sales$/,
    handle: ({ store, body }) => ({ status: 201, body: viewEntry(booking.postSale(store, body)) }),
  },
  {
    method: 'POST',
    path: /^\/payouts$/,
    handle: async ({ store, body }) => ({ status: 201, body: viewEntry(await booking.postPayout(store, body)) }),
  },
];
