'use strict';

const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { table } = require('../table');
const { parseDuration, showDuration, showTime } = require('../time');

// Times without a backup, longer than a job may take or than --over. The last one may still go on.
module.exports = function gaps({ options, names, plan, now, records }) {
  const rows = [];
  for (const job of chosen(plan, names)) {
    const limit = options.over ? parseDuration(options.over, '--over') : job.every + job.grace;
    const own = ofJob(records, job.name);
    own.forEach((record, i) => {
      const next = own[i + 1];
      const length = (next ? next.at : now) - record.at;
      if (length > limit) {
        rows.push([job.name, showTime(record.at), next ? showTime(next.at) : 'now', showDuration(length)]);
      }
    });
  }
  return { lines: table(rows, [3]), status: rows.length > 0 ? 1 : 0 };
};
