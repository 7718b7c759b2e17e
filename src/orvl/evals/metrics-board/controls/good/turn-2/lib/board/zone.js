'use strict';

const WINTER = Date.UTC(2026, 0, 15);

/** The clock on the wall in one time zone. */
class Zone {
  constructor(name) {
    this.format = new Intl.DateTimeFormat('en-CA', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    this.winterOffset = this.wallAt(WINTER) - WINTER;
  }

  /** The day, as 2026-03-16, of a moment in milliseconds. */
  dayAt(moment) {
    return new Date(this.wallAt(moment)).toISOString().slice(0, 10);
  }

  /** The moment at which a clock that is never put forward shows a time; the time as if it were UTC. */
  momentInWinterTime(wall) {
    return wall - this.winterOffset;
  }

  wallAt(moment) {
    const parts = Object.fromEntries(this.format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute);
  }
}

module.exports = { Zone };
