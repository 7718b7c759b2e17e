'use strict';

// Wall clocks. A moment is a number of milliseconds since 1970; what people call nine o'clock depends on their zone, and
// twice a year a day there has 23 or 25 hours.

const MINUTE = 60 * 1000;
const DAY = 24 * 60 * MINUTE;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const formats = new Map();

function formatOf(zone) {
  if (!formats.has(zone)) {
    formats.set(
      zone,
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        weekday: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
    );
  }
  return formats.get(zone);
}

/** What calendar and clock show in a zone at a moment. */
function wallTime(at, zone) {
  const found = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) found[type] = value;
  return {
    year: Number(found.year),
    month: Number(found.month),
    day: Number(found.day),
    hour: Number(found.hour),
    minute: Number(found.minute),
    second: Number(found.second),
    weekday: WEEKDAYS.indexOf(found.weekday),
  };
}

function offsetAt(at, zone) {
  const { year, month, day, hour, minute, second } = wallTime(at, zone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** The moment at which clocks in a zone show this. In the hour that is left out in spring: an hour later. */
function momentOf({ year, month, day, hour = 0, minute = 0 }, zone) {
  const asIfUtc = Date.UTC(year, month - 1, day, hour, minute);
  const [before, after] = [-DAY, DAY].map((away) => asIfUtc - offsetAt(asIfUtc + away, zone));
  return [before, after].find((at) => at + offsetAt(at, zone) === asIfUtc) ?? before;
}

/** The same time of day, so many calendar days later. */
function addDays(at, days, zone) {
  const { year, month, day, hour, minute } = wallTime(at, zone);
  const moved = new Date(Date.UTC(year, month - 1, day + days));
  return momentOf(
    { year: moved.getUTCFullYear(), month: moved.getUTCMonth() + 1, day: moved.getUTCDate(), hour, minute },
    zone,
  );
}

/** The calendar day as `2026-03-29`. */
function dayOf(at, zone) {
  const { year, month, day } = wallTime(at, zone);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

module.exports = { wallTime, momentOf, addDays, dayOf, MINUTE, DAY };
