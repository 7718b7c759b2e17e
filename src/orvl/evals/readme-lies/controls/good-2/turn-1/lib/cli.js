'use strict';

const path = require('node:path');

const { parseArgs } = require('./args');
const { readCatalogue } = require('./catalogue');
const { UsageError } = require('./errors');
const { helpFor } = require('./help');
const { json } = require('./json');
const { plain } = require('./plain');
const { readPlan } = require('./plan');
const { Query } = require('./queries');
const { parseTime, nowInSeconds } = require('./time');

// Returns what to print and how to exit; nothing below here touches process.
//
// Exit status: docs/exit-status.md.
function main(argv, env) {
  try {
    const call = parseArgs(argv);
    if (call.options.help || call.command === 'help') {
      return { out: helpFor(call.command === 'help' ? call.names[0] : call.command), err: '', status: 0 };
    }
    if (call.options.version) {
      return { out: `coffer ${require('../package.json').version}\n`, err: '', status: 0 };
    }
    const { command, options } = call;
    const query = new Query(prepare(call, env));
    const result = query[command]();
    const out = options.json ? json(command, query.now, result) : plain(command, result, options);
    return { out, err: '', status: result.status };
  } catch (error) {
    if (error instanceof UsageError) {
      return { out: '', err: `coffer: ${error.message}\n`, status: 2 };
    }
    throw error;
  }
}

// Everything a command gets to see: its options, the names given, the plan's jobs, the records.
function prepare(call, env) {
  const planFile = call.options.plan || env.COFFER_PLAN || 'coffer.ini';
  const plan = readPlan(planFile);
  const now = call.options.now ? parseTime(call.options.now, '--now') : nowInSeconds();
  const file = call.options.catalogue || path.join(path.dirname(planFile), plan.catalogue);
  // What is later than --now has not happened yet.
  const records = readCatalogue(file).filter((record) => record.at <= now);
  return { options: call.options, names: call.names, plan, now, records };
}

module.exports = { main };
