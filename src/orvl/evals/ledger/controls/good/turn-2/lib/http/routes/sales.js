'use strict';

const booking = require('../../booking');
const { once } = require('../../once');

const books = (name, post) => ({
  method: 'POST',
  path: new RegExp(`^/${name}$`),
  handle: ({ store, request, body }) => once(store, request, `/${name}`, body, post),
});

module.exports = [
  books('sales', booking.postSale),
  books('payouts', booking.postPayout),
  books('conversions', booking.postConversion),
];
