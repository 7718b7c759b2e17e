'use strict';

const fs = require('node:fs');

const { wholeNumber } = require('./args');
const { UsageError } = require('./errors');
const { parseDuration } = require('./time');

const DEFAULTS = { every: '24h', grace: '2h', keep: '7', shrink: '50%' };
const NAME = /^[a-z0-9][a-z0-9._-]*$/;

// The plan: which jobs there are, how often each has to run, and how many of its backups are kept.
//
//   catalogue = catalogue.csv
//   [defaults]
//   grace = 3h
//   [accounts]
//   every = 12h
//
// Jobs stay in the order of the file.
function readPlan(file) {
  const plan = { catalogue: 'catalogue.csv', jobs: [] };
  const sections = new Map([['defaults', {}]]);
  let section = null;
  lines(file).forEach((line, i) => {
    const where = `${file}:${i + 1}`;
    const text = line.replace(/(^|\s)[#;].*$/, '').trim();
    if (text === '') return;
    const head = /^\[(.+)\]$/.exec(text);
    if (head) {
      section = head[1].trim();
      if (!NAME.test(section)) throw new UsageError(`${where}: '${section}' is no name for a job.`);
      if (section !== 'defaults' && sections.has(section)) throw new UsageError(`${where}: ${section} is there twice.`);
      if (!sections.has(section)) sections.set(section, {});
      return;
    }
    const pair = /^([a-z]+)\s*=\s*(\S.*)$/.exec(text);
    if (!pair) throw new UsageError(`${where}: '${text}' is neither [job] nor key = value.`);
    if (section === null && pair[1] === 'catalogue') {
      plan.catalogue = pair[2];
    } else if (section !== null && Object.hasOwn(DEFAULTS, pair[1])) {
      sections.get(section)[pair[1]] = pair[2];
    } else {
      throw new UsageError(`${where}: '${pair[1]}' is no key that can stand here.`);
    }
  });
  for (const [name, own] of sections) {
    if (name === 'defaults') continue;
    plan.jobs.push(job(name, { ...DEFAULTS, ...sections.get('defaults'), ...own }, file));
  }
  return plan;
}

function job(name, keys, file) {
  const where = `${file}, ${name}`;
  const percent = /^(\d{1,2}|100)%$/.exec(keys.shrink);
  if (!percent) throw new UsageError(`${where}: shrink is a percentage such as 50%, not '${keys.shrink}'.`);
  return {
    name,
    every: parseDuration(keys.every, where),
    grace: parseDuration(keys.grace, where),
    keep: wholeNumber(keys.keep, `${where}: keep`),
    shrink: Number(percent[1]),
  };
}

function lines(file) {
  try {
    return fs.readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    throw new UsageError(`cannot read ${file}.`);
  }
}

// The jobs that are meant by the names on the command line: all if there are none.
function chosen(plan, names) {
  for (const name of names) {
    if (!plan.jobs.some((one) => one.name === name)) throw new UsageError(`there is no job '${name}' in the plan.`);
  }
  return plan.jobs.filter((one) => names.length === 0 || names.includes(one.name));
}

module.exports = { readPlan, chosen, lines };
