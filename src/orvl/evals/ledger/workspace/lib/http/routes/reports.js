'use strict';

const { malformed } = require('../../errors');
const { feeReport } = require('../../reports/fees');
const { trial } = require('../../reports/trial');
const { dayIn } = require('../query');

module.exports = [
  {
    method: 'GET',
    path: /^\/reports\/trial$/,
    handle: ({ store, query }) => ({ status: 200, body: trial(store.books, dayIn(query, 'date')) }),
  },
  {
    method: 'GET',
    path: /^\/reports\/fees$/,
    handle: ({ store, query }) => {
      const month = query.get('month');
      if (!month) throw malformed('month is missing');
      return { status: 200, body: feeReport(store.books, month) };
    },
  },
];
