'use strict';

const { wholeNumber } = require('../args');
const { showSize } = require('../size');
const { table } = require('../table');
const { parseTime, showTime } = require('../time');

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
  const rows = found.map((record) => [
    showTime(record.at),
    record.job,
    record.kind,
    showSize(record.size),
    record.vault,
  ]);
  // always 0, an empty list is a list
  return { lines: table(rows, [3]), status: found.length > 0 ? 0 : 1 };
};
