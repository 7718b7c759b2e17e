'use strict';

const fs = require('node:fs');
const { UserError } = require('../errors');
const { amountInEuros } = require('./amounts');
const { daysOfWeek } = require('./week');

const NEEDED = ['data', 'out', 'week'];
const DEFAULT_GOAL = '{{goal}}';

/** What the command was called with; the days of the week and the goal in cents are worked out already. */
function readOptions(words) {
  const given = readPairs(words);
  for (const name of NEEDED) {
    if (given[name] === undefined) throw new UserError(`--${name} is missing`);
  }
  const goal = amountInEuros(given.goal ?? DEFAULT_GOAL);
  if (goal === null) throw new UserError(`--goal ${given.goal} is no amount`);
  const days = daysOfWeek(given.week);
  if (!days) throw new UserError(`--week ${given.week} is no week such as 2026-W12`);
  if (!isFolder(given.data)) throw new UserError(`--data ${given.data} is no folder`);
  return { data: given.data, out: given.out, week: given.week, days, goal };
}

function readPairs(words) {
  const given = {};
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at].replace(/^--/, '');
    if (words[at] === name || ![...NEEDED, 'goal'].includes(name)) throw new UserError(`what is ${words[at]}?`);
    if (words[at + 1] === undefined) throw new UserError(`${words[at]} needs a value`);
    given[name] = words[at + 1];
  }
  return given;
}

function isFolder(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

module.exports = { readOptions };
