'use strict';

// When a mail is to go out.
//
//   nothing            now
//   2026-05-04T10:00Z  then; in the past: now
//   tomorrow 08:00     tomorrow at that time
//   next 08:00         when clocks show that next
//   monthly 31 09:00   on that day of the month, or its last one
//   workday 08:00      next Monday to Friday at that time

const { Refused } = require('./errors');
const { wallTime, momentOf, addDays } = require('./zone');

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function timeOfDay(text) {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (!match) throw new Refused(`not a time of day: ${text}`);
  return { hour: Number(match[1]), minute: Number(match[2]) };
}

/** The moment at which a mail is due, before anybody's quiet hours. */
function plan(when, now, zone) {
  if (when === undefined || when === null) return now;
  if (typeof when !== 'string') throw new Refused('at is a text');
  if (ISO.test(when)) return Math.max(now, parsed(when));
  const [word, ...rest] = when.split(' ');
  const rule = Object.hasOwn(RULES, word) ? RULES[word] : null;
  if (!rule || rest.length !== rule.words) throw new Refused(`nobody knows when this is: ${when}`);
  return rule.next(rest, now, zone);
}

function parsed(when) {
  const at = Date.parse(when);
  if (Number.isNaN(at)) throw new Refused(`there is no such moment: ${when}`);
  return at;
}

const RULES = {
  tomorrow: { words: 1, next: ([time], now, zone) => onDay(addDays(now, 1, zone), timeOfDay(time), zone) },
  next: { words: 1, next: ([time], now, zone) => nextTime(now, timeOfDay(time), zone) },
  workday: { words: 1, next: ([time], now, zone) => nextWorkday(now, timeOfDay(time), zone) },
  monthly: { words: 2, next: ([day, time], now, zone) => nextMonthly(now, Number(day), timeOfDay(time), zone) },
};

function onDay(at, time, zone) {
  const { year, month, day } = wallTime(at, zone);
  return momentOf({ year, month, day, ...time }, zone);
}

function nextTime(now, time, zone) {
  const today = onDay(now, time, zone);
  return today > now ? today : onDay(addDays(now, 1, zone), time, zone);
}

function nextWorkday(now, time, zone) {
  let at = nextTime(now, time, zone);
  while ([0, 6].includes(wallTime(at, zone).weekday)) at = addDays(at, 1, zone);
  return at;
}

function nextMonthly(now, wanted, time, zone) {
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > 31) throw new Refused(`no month has a day ${wanted}`);
  const { year, month } = wallTime(now, zone);
  const inThisMonth = inMonth(year, month, wanted, time, zone);
  return inThisMonth > now ? inThisMonth : inMonth(year, month + 1, wanted, time, zone);
}

function inMonth(year, month, wanted, time, zone) {
  const first = new Date(Date.UTC(year, month - 1, 1));
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const found = { year: first.getUTCFullYear(), month: first.getUTCMonth() + 1, day: Math.min(wanted, last) };
  return momentOf({ ...found, ...time }, zone);
}

/** Moves a moment out of the quiet hours, to their end. They may go over midnight. */
function afterQuiet(at, quiet, zone) {
  if (!quiet) return at;
  const from = minutes(timeOfDay(quiet.from));
  const to = minutes(timeOfDay(quiet.to));
  const now = minutes(wallTime(at, zone));
  const isQuiet = from <= to ? now >= from && now < to : now >= from || now < to;
  if (!isQuiet) return at;
  const day = now >= to ? addDays(at, 1, zone) : at;
  return onDay(day, timeOfDay(quiet.to), zone);
}

function minutes({ hour, minute }) {
  return hour * 60 + minute;
}

module.exports = { plan, afterQuiet, timeOfDay };
