'use strict';

const path = require('node:path');

const { parseArgs } = require('./args');
const { readCatalogue } = require('./catalogue');
const { UsageError } = require('./errors');
const { helpFor } = require('./help');
const { toJson } = require('./json');
const { readPlan } = require('./plan');
const { parseTime, nowInSeconds } = require('./time');

const COMMANDS = {
  check: require('./commands/check'),
  list: require('./commands/list'),
  sizes: require('./commands/sizes'),
  prune: require('./commands/prune'),
  gaps: require('./commands/gaps'),
};

// Returns what to print and how to exit; nothing below here touches process.
//
// Exit statuses are in docs/exit-status.md.
function main(argv, env) {
  try {
    const call = parseArgs(argv);
    if (call.options.help || call.command === 'help') {
      return { out: helpFor(call.command === 'help' ? call.names[0] : call.command), err: '', status: 0 };
    }
    if (call.options.version) {
      return { out: `coffer ${require('../package.json').version}\n`, err: '', status: 0 };
    }
    const context = prepare(call, env);
    const result = COMMANDS[call.command](context);
    const out = call.options.json
      ? toJson(call.command, context.now, result)
      : result.lines.map((line) => line + '\n').join('');
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
