'use strict';

/** The clock on the wall in one time zone. */
class Zone {
  constructor(name) {
    this.format = new Intl.DateTimeFormat('en-CA', { timeZone: name, year: 'numeric', month: '2-digit', day: '2-digit' });
  }

  /** The day, as 2026-03-16, of a moment in milliseconds. */
  dayAt(moment) {
    const parts = Object.fromEntries(this.format.formatToParts(moment).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}-${parts.day}`;
  }
}

module.exports = { Zone };
