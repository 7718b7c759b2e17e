'use strict';

const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { showSize } = require('../size');
const { table } = require('../table');
const { showDuration } = require('../time');

// One line a job: ok, late, shrunk or missing. Parsed by scripts/nightly/mail.sh and others.
//
// Exits with 1 if anything is not ok, with 3 if the catalogue cannot be read.
module.exports = function check({ options, names, plan, now, records }) {
  const rows = [];
  let status = 0;
  for (const job of chosen(plan, names)) {
    const own = ofJob(records, job.name);
    const newest = own[own.length - 1];
    if (!newest) {
      rows.push([job.name, 'missing', '-', '-']);
      status = 1;
      continue;
    }
    // An incremental backup is always smaller than a full one.
    const before = own.filter((record) => record.kind === newest.kind).slice(-2, -1)[0];
    const age = now - newest.at; // minutes
    const limit = job.every + job.grace;
    if (age > limit) {
      rows.push([job.name, 'late', showDuration(age), showSize(newest.size), `allowed ${showDuration(limit)}`]);
      status = 1;
    } else if (before && newest.size * 100 < before.size * job.shrink) {
      // only a warning, does not count
      rows.push([job.name, 'shrunk', showDuration(age), showSize(newest.size), `before ${showSize(before.size)}`]);
      if (options.strict) status = 1;
    } else {
      rows.push([job.name, 'ok', showDuration(age), showSize(newest.size)]);
    }
  }
  const shown = options.quiet ? rows.filter((row) => row[1] !== 'ok') : rows;
  return { lines: table(shown, [2, 3]), status };
};
