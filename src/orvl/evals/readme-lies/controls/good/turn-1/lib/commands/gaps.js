'use strict';

const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { table } = require('../table');
const { isoTime, parseDuration, showDuration, showTime, wholeMinutes } = require('../time');

// Times without a backup, longer than a job may take or than --over. The last one may still go on.
module.exports = function gaps({ options, names, plan, now, records }) {
  const found = [];
  for (const job of chosen(plan, names)) {
    const limit = options.over ? parseDuration(options.over, '--over') : job.every + job.grace;
    const own = ofJob(records, job.name);
    own.forEach((record, i) => {
      const next = own[i + 1];
      const length = (next ? next.at : now) - record.at;
      if (length > limit) found.push({ job: job.name, from: record.at, to: next ? next.at : null, length });
    });
  }
  return { lines: table(found.map(plainRow), [3]), rows: found.map(jsonRow), status: found.length > 0 ? 1 : 0 };
};

function plainRow({ job, from, to, length }) {
  return [job, showTime(from), to === null ? 'now' : showTime(to), showDuration(length)];
}

function jsonRow({ job, from, to, length }) {
  return { job, from: isoTime(from), to: to === null ? null : isoTime(to), length: wholeMinutes(length) };
}
