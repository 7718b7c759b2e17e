'use strict';

const { needDay } = require('../dates');

/** A day in the query, or undefined. */
function dayIn(query, name) {
  return query.has(name) ? needDay(query.get(name), name) : undefined;
}

/** Which state of the books is asked for: by the end of `date`, and as it was known on the day `known`. */
function daysIn(query) {
  return { date: dayIn(query, 'date'), known: dayIn(query, 'known') };
}

module.exports = { dayIn, daysIn };
