'use strict';

const { needDay } = require('../dates');

/** Options that say which state of the books is asked for. */
const DAYS = { date: 'text', known: 'text' };

function daysOf({ date, known }) {
  return {
    date: date === undefined ? undefined : needDay(date, '--date'),
    known: known === undefined ? undefined : needDay(known, '--known'),
  };
}

module.exports = { DAYS, daysOf };
