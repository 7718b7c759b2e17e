'use strict';

// Days are counted from 1 January 1970 on: numbers are easier to compare than dates.

const ONE = 86400000;

const number = (year, month, day) => Date.UTC(year, month - 1, day) / ONE;
const iso = (day) => new Date(day * ONE).toISOString().slice(0, 10);
const weekday = (day) => ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'][day % 7];

/** The Monday of the week in which a day is. */
const mondayOf = (day) => day - ((day + 3) % 7);

function monday(week) {
  const [, year, nth] = /^(\d{4})-W(\d\d)$/.exec(week) || [];
  if (!year || nth === '00') return undefined;
  const found = mondayOf(number(year, 1, 4)) + 7 * (nth - 1);
  return found < mondayOf(number(Number(year) + 1, 1, 4)) ? found : undefined;
}

/** How many minutes the clocks of a zone are ahead of UTC, by the hour: it never changes within one. */
function clock(zone) {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const hours = new Map();
  const ahead = (ms) => {
    const hour = Math.floor(ms / 3600000);
    if (!hours.has(hour)) {
      const name = format.formatToParts(hour * 3600000).find((part) => part.type === 'timeZoneName').value;
      const [, sign, h, m] = /GMT(?:([-+])(\d\d):(\d\d))?/.exec(name);
      hours.set(hour, sign ? Number(`${sign}1`) * (h * 60 + Number(m)) : 0);
    }
    return hours.get(hour);
  };
  return {
    ahead,
    day: (ms) => Math.floor((ms + ahead(ms) * 60000) / ONE),
  };
}

module.exports = { clock, iso, monday, number, weekday };
