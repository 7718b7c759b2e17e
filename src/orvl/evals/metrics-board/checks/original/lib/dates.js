'use strict';

const { UserError } = require('./errors');

const DAY = 24 * 60 * 60 * 1000;
const WEEK = /^(\d{4})-W(\d\d)$/;

/** The Monday of an ISO week, as a Date at midnight UTC. */
function mondayOf(week) {
  const match = WEEK.exec(week);
  if (!match) throw new UserError(`${week} is not a week such as 2026-W12`);
  const newYear = new Date(Date.UTC(Number(match[1]), 0, 1));
  const weekday = (newYear.getUTCDay() + 6) % 7;
  return new Date(newYear.getTime() + ((Number(match[2]) - 1) * 7 - weekday) * DAY);
}

/** The seven days of an ISO week, as 2026-03-16. */
function daysOf(week) {
  const monday = mondayOf(week).getTime();
  return [0, 1, 2, 3, 4, 5, 6].map((at) => isoDay(new Date(monday + at * DAY)));
}

/** The seven days before those. */
function daysBefore(week) {
  const monday = mondayOf(week).getTime();
  return [7, 6, 5, 4, 3, 2, 1].map((at) => isoDay(new Date(monday - at * DAY)));
}

function isoDay(date) {
  return date.toISOString().slice(0, 10);
}

/** The local day of a time in any of the exports. */
function dayOf(time) {
  const german = /^(\d\d)\.(\d\d)\.(\d{4})/.exec(time);
  return german ? `${german[3]}-${german[2]}-${german[1]}` : time.slice(0, 10);
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function weekday(day) {
  return WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()];
}

module.exports = { mondayOf, daysOf, daysBefore, isoDay, dayOf, weekday };
