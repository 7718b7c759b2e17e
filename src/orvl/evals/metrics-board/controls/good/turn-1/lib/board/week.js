'use strict';

const WEEK = /^(\d{4})-W(\d{2})$/;

/** The seven days of an ISO week as 2026-03-16; null where the year has no such week. */
function daysOfWeek(week) {
  const match = WEEK.exec(week);
  if (!match) return null;
  const year = Number(match[1]);
  const monday = addDays(firstMonday(year), 7 * (Number(match[2]) - 1));
  const isInYear = monday >= firstMonday(year) && monday < firstMonday(year + 1);
  return isInYear ? [0, 1, 2, 3, 4, 5, 6].map((day) => isoDay(addDays(monday, day))) : null;
}

/** The Monday of week 1, which is the week with 4 January. */
function firstMonday(year) {
  const fourth = new Date(Date.UTC(year, 0, 4));
  return addDays(fourth, -((fourth.getUTCDay() + 6) % 7));
}

function addDays(date, days) {
  const moved = new Date(date);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved;
}

function isoDay(date) {
  return date.toISOString().slice(0, 10);
}

module.exports = { daysOfWeek };
