'use strict';

const { wholeNumber } = require('../args');
const { showSize } = require('../size');
const { table } = require('../table');
const { isoTime, parseTime, showTime } = require('../time');

// Backups, newest first. Jobs that are no longer in the plan are listed, too.
module.exports = function list({ options, names, records }) {
  let found = records.filter((record) => names.length === 0 || names.includes(record.job));
  if (options.after) {
    const after = parseTime(options.after, '--after');
    found = found.filter((record) => record.at > after);
  }
  if (options.vault) found = found.filter((record) => record.vault === options.vault);
  found.sort((a, b) => b.at - a.at || (a.job < b.job ? -1 : a.job > b.job ? 1 : 0));
  if (options.last) found = found.slice(0, wholeNumber(options.last, '--last'));
  const columns = found.map((record) => [
    showTime(record.at),
    record.job,
    record.kind,
    showSize(record.size),
    record.vault,
  ]);
  // Like grep: nothing found is 1.
  return { lines: table(columns, [3]), rows: found.map(jsonRow), status: found.length > 0 ? 0 : 1 };
};

function jsonRow({ at, job, kind, bytes, vault }) {
  return { time: isoTime(at), job, kind, size: bytes, vault };
}
