'use strict';

const { needDay } = require('../dates');

/** A day in the query, or undefined. */
function dayIn(query, name) {
  return query.has(name) ? needDay(query.get(name), name) : undefined;
}

module.exports = { dayIn };
