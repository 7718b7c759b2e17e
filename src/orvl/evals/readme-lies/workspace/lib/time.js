'use strict';

const { UsageError } = require('./errors');

const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?Z?)?$/;
const UNITS = { m: 60, h: 3600, d: 86400 };

// '2026-03-01T02:10:44Z', '2026-03-01 02:10' or '2026-03-01' (midnight), all UTC. Gives minutes since 1970.
function parseTime(text, where) {
  const match = TIME.exec(text);
  const [year, month, day, hour, minute, second] = match ? match.slice(1).map((part) => Number(part || 0)) : [];
  const at = match ? Date.UTC(year, month - 1, day, hour, minute, second) : NaN;
  if (!match || new Date(at).getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) {
    throw new UsageError(`${where}: '${text}' is no time such as 2026-03-01T02:10:44Z.`);
  }
  return at / 1000;
}

function nowInSeconds() {
  return Math.floor(Date.now() / 1000);
}

// '90m', '36h', '7d'. Gives milliseconds, like setTimeout wants them.
function parseDuration(text, where) {
  const match = /^(\d{1,5})([mhd])$/.exec(text);
  if (!match) throw new UsageError(`${where}: '${text}' is no duration such as 90m, 36h or 7d.`);
  return Number(match[1]) * UNITS[match[2]];
}

// For people: 45m, 31h, 5d. Always rounded down, nobody wants to hear 'one day' after 47 hours.
function showDuration(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 72 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

// For people, in local time: 2026-03-01 02:10
function showTime(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

// For names of folders: 20260301T021044Z
function stamp(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '') + 'Z';
}

module.exports = { parseTime, nowInSeconds, parseDuration, showDuration, showTime, stamp };
