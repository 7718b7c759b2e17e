'use strict';

// What each command finds out. Nothing in here knows how it is printed: lib/plain.js is for people, lib/json.js for programs.

const { wholeNumber } = require('./args');
const { ofJob } = require('./catalogue');
const { UsageError } = require('./errors');
const { chosen } = require('./plan');
const { parseDuration, parseTime } = require('./time');

const GROUPS = ['job', 'vault', 'kind'];
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

class Query {
  constructor({ options, names, plan, now, records }) {
    Object.assign(this, { options, names, plan, now, records });
  }

  check() {
    const all = this.jobs().map(({ job, own }) => {
      const newest = own.at(-1);
      const limit = job.every + job.grace;
      if (newest === undefined) return { job: job.name, state: 'missing', limit };
      const before = own.findLast((record) => record !== newest && record.kind === newest.kind);
      const age = this.now - newest.at;
      let state = 'ok';
      if (age > limit) state = 'late';
      else if (before !== undefined && 100 * newest.kib < job.shrink * before.kib) state = 'shrunk';
      return { job: job.name, state, limit, age, newest, before };
    });
    const states = new Set(all.map((one) => one.state));
    const found = this.options.quiet ? all.filter((one) => one.state !== 'ok') : all;
    return { found, status: this.checkStatus(states) };
  }

  // 3 only where it was asked for: others take what they do not know for a failure of ours.
  checkStatus(states) {
    const statuses = this.options.strict
      ? { ok: 0, shrunk: 1, late: 1, missing: 3 }
      : { ok: 0, shrunk: 0, late: 1, missing: 1 };
    return Math.max(0, ...[...states].map((state) => statuses[state]));
  }

  list() {
    const { after, vault, last } = this.options;
    const since = after === undefined ? -Infinity : parseTime(after, '--after');
    const most = last === undefined ? undefined : wholeNumber(last, '--last');
    const found = this.named()
      .filter((record) => record.at > since && (vault === undefined || record.vault === vault))
      .sort((a, b) => b.at - a.at || (a.job === b.job ? 0 : a.job < b.job ? -1 : 1))
      .slice(0, most);
    return { found, status: found.length ? 0 : 1 };
  }

  sizes() {
    const { by = 'job' } = this.options;
    if (!GROUPS.includes(by)) throw new UsageError(`--by is one of ${GROUPS.join(', ')}, not '${by}'.`);
    const records = this.named();
    const names = [...new Set(records.map((record) => record[by]))];
    const groups = names.map((name) => added(name, records.filter((record) => record[by] === name)));
    groups.sort((a, b) => b.kib - a.kib || (a.name < b.name ? -1 : 1));
    return { found: groups, all: added('total', records), status: 0 };
  }

  prune() {
    const { keep } = this.options;
    const found = this.jobs().flatMap(({ job, own }) => {
      const kept = new Set(own.slice(-(keep === undefined ? job.keep : wholeNumber(keep, '--keep'))));
      // An incremental backup is worth nothing without a full one.
      kept.add(own.findLast((record) => record.kind === 'full'));
      return own.filter((record) => !kept.has(record));
    });
    return { found, all: added('total', found), status: 0 };
  }

  gaps() {
    const found = this.jobs().flatMap(({ job, own }) => {
      const limit = this.options.over ? parseDuration(this.options.over, '--over') : job.every + job.grace;
      return own
        .map((record, i) => ({ job: job.name, from: record.at, to: own[i + 1]?.at ?? null }))
        .map((gap) => ({ ...gap, length: (gap.to ?? this.now) - gap.from }))
        .filter((gap) => gap.length > limit);
    });
    return { found, status: found.length ? 1 : 0 };
  }

  jobs() {
    return chosen(this.plan, this.names).map((job) => ({ job, own: ofJob(this.records, job.name) }));
  }

  named() {
    return this.records.filter((record) => !this.names.length || this.names.includes(record.job));
  }
}

function added(name, records) {
  return {
    name,
    count: records.length,
    bytes: sum(records.map((record) => record.bytes)),
    kib: sum(records.map((record) => record.kib)),
  };
}

module.exports = { Query };
