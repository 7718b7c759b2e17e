'use strict';

const { wholeNumber } = require('../args');
const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { stamp } = require('../time');

// Prints the folders that can be deleted, the oldest of a job first. Deletes nothing itself: that is what
// scripts/ops/prune.sh is for. Exits with 1 if there is something to delete.
module.exports = function prune({ options, names, plan, records }) {
  const lines = [];
  for (const job of chosen(plan, names)) {
    const keep = options.keep ? wholeNumber(options.keep, '--keep') : job.keep;
    const own = ofJob(records, job.name);
    const old = own.slice(0, Math.max(0, own.length - keep));
    // An incremental backup is worth nothing without a full one: the newest of these always stays.
    const full = own.filter((record) => record.kind === 'full').pop();
    for (const record of old) {
      if (record !== full) lines.push(`${record.vault}/${record.job}/${stamp(record.at)}`);
    }
  }
  return { lines, status: 0 };
};
