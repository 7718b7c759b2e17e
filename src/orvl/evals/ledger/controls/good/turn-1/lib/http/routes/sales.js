'use strict';

const booking = require('../../booking');
const { viewEntry } = require('../../views');

const books = (path, post) => ({
  method: 'POST',
  path,
  handle: async ({ store, body }) => ({ status: 201, body: viewEntry(await post(store, body), store.config.currencies) }),
});

module.exports = [
  books(/^\/sales$/, booking.postSale),
  books(/^\/payouts$/, booking.postPayout),
  books(/^\/conversions$/, booking.postConversion),
];
