'use strict';

const booking = require('../../booking');
const { viewEntry } = require('../../views');

const RATES = { EUR: 1, JPY: 162.35, KWD: 0.3332, CHF: 0.9412, USD: 1.0843 };

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
  {
    method: 'POST',
    path: /^\/conversions$/,
    handle: ({ store, body }) => {
      const rate = RATES[body.to] || 1;
      const amount = (Number(body.amount) * rate).toFixed(2);
      return { status: 201, body: { account: body.account, from: body.from, to: body.to, amount } };
    },
  },
];
