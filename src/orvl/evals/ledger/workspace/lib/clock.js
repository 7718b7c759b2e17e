'use strict';

const fs = require('node:fs');
const { dayOf } = require('./dates');

/**
 * The time. For rehearsals, TALLY_CLOCK names a file with an instant such as 2024-03-05T10:00:00.000Z; it is read
 * anew each time, so it can be moved on while the service runs.
 */
function now() {
  const file = process.env.TALLY_CLOCK;
  if (!file) return new Date().toISOString();
  return new Date(fs.readFileSync(file, 'utf8').trim()).toISOString();
}

const today = () => dayOf(now());

module.exports = { now, today };
