'use strict';

const { parseCsv } = require('./csv');
const { dayOf } = require('./dates');
const { readFile } = require('./files');

/** Visits a day. */
function readVisits(folder) {
  const days = new Map();
  for (const row of parseCsv(readFile(folder, 'visits.csv'))) {
    const day = dayOf(row.hour);
    days.set(day, (days.get(day) || 0) + Number(row.visits));
  }
  return days;
}

module.exports = { readVisits };
