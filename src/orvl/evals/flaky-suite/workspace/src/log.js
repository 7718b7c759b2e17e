'use strict';

const { systemClock } = require('./clock');

/** Lines for people, on standard error: `2026-05-04T08:00:00.000Z sent mail=m-31`. */
function createLog(clock = systemClock, write = (line) => process.stderr.write(line)) {
  return (event, details = {}) => {
    const words = Object.entries(details)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key}=${/\s/.test(String(value)) ? JSON.stringify(value) : value}`);
    write(`${[new Date(clock.now()).toISOString(), event, ...words].join(' ')}\n`);
  };
}

module.exports = { createLog };
