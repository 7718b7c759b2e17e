'use strict';

const { malformed } = require('./errors');

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day that exists, such as 2024-02-29. */
function isDay(text) {
  if (typeof text !== 'string' || !DAY.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}

function needDay(text, what = 'date') {
  if (!isDay(text)) throw malformed(`${what} must be a day such as 2024-02-29, not ${JSON.stringify(text)}`);
  return text;
}

/** The day of an instant, for the books: in UTC, wherever we run (decision 5). */
function dayOf(instant) {
  return new Date(instant).toISOString().slice(0, 10);
}

/** The day after or before another one. */
function addDays(day, count) {
  const date = new Date(`${day}T12:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

/** First and last day of a month such as 2024-02. */
function monthOf(text) {
  if (!/^\d{4}-\d{2}$/.test(text) || !isDay(`${text}-01`)) throw malformed(`${text} is not a month such as 2024-02`);
  const [year, month] = text.split('-').map(Number);
  const last = new Date(Date.UTC(year, month, 0));
  return { from: `${text}-01`, to: last.toISOString().slice(0, 10) };
}

/** "05.03.2024", as banks write it. */
function fromBank(text) {
  const match = /^(\d{2})\.(\d{2})\.(\d{4})$/.exec(text);
  return match && isDay(`${match[3]}-${match[2]}-${match[1]}`) ? `${match[3]}-${match[2]}-${match[1]}` : null;
}

module.exports = { isDay, needDay, dayOf, addDays, monthOf, fromBank };
