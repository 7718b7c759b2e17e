'use strict';

const { ofJob } = require('../catalogue');
const { chosen } = require('../plan');
const { showSize } = require('../size');
const { table } = require('../table');
const { isoTime, showDuration, wholeMinutes } = require('../time');

// One line a job: ok, late, shrunk or missing. Parsed by scripts/nightly/mail.sh and others.
module.exports = function check({ options, names, plan, now, records }) {
  const found = chosen(plan, names).map((job) => examine(job, ofJob(records, job.name), now));
  const shown = options.quiet ? found.filter((one) => one.state !== 'ok') : found;
  return { lines: table(shown.map(plainRow), [2, 3]), rows: shown.map(jsonRow), status: statusOf(found, options) };
};

function examine(job, own, now) {
  const limit = job.every + job.grace;
  const newest = own[own.length - 1];
  if (!newest) return { job: job.name, state: 'missing', limit };
  const age = now - newest.at;
  // An incremental backup is always smaller than a full one.
  const before = own.filter((record) => record.kind === newest.kind).slice(-2, -1)[0];
  const hasShrunk = before && newest.size * 100 < before.size * job.shrink;
  const state = age > limit ? 'late' : hasShrunk ? 'shrunk' : 'ok';
  return { job: job.name, state, limit, newest, age, before };
}

// Callers from before 3 was there take it for a failure of coffer's: only --strict tells missing jobs apart. A shrunk backup is
// a warning, which does not count otherwise.
function statusOf(found, { strict }) {
  const is = (state) => found.some((one) => one.state === state);
  if (strict && is('missing')) return 3;
  return is('late') || is('missing') || (strict && is('shrunk')) ? 1 : 0;
}

function plainRow({ job, state, limit, newest, age, before }) {
  if (!newest) return [job, state, '-', '-'];
  const row = [job, state, showDuration(age), showSize(newest.size)];
  if (state === 'late') row.push(`allowed ${showDuration(limit)}`);
  if (state === 'shrunk') row.push(`before ${showSize(before.size)}`);
  return row;
}

function jsonRow({ job, state, limit, newest, age }) {
  return {
    job,
    state,
    newest: newest ? isoTime(newest.at) : null,
    age: newest ? wholeMinutes(age) : null,
    limit: wholeMinutes(limit),
    size: newest ? newest.bytes : null,
  };
}
