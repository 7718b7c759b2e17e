'use strict';

const { wholeNumber } = require('../args');
const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { isoTime, stamp } = require('../time');

// Prints the folders that can be deleted, the oldest of a job first. Deletes nothing itself: that is what
// scripts/ops/prune.sh is for.
module.exports = function prune({ options, names, plan, records }) {
  const found = [];
  for (const job of chosen(plan, names)) {
    const keep = options.keep ? wholeNumber(options.keep, '--keep') : job.keep;
    const own = ofJob(records, job.name);
    const old = own.slice(0, Math.max(0, own.length - keep));
    // An incremental backup is worth nothing without a full one: the newest of these always stays.
    const full = own.filter((record) => record.kind === 'full').pop();
    found.push(...old.filter((record) => record !== full));
  }
  const rows = found.map(jsonRow);
  const total = rows.reduce((sum, row) => sum + row.size, 0);
  return { lines: rows.map((row) => row.path), rows, total, status: 0 };
};

function jsonRow({ at, job, kind, bytes, vault }) {
  return { job, time: isoTime(at), kind, size: bytes, vault, path: `${vault}/${job}/${stamp(at)}` };
}
