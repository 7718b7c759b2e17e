'use strict';

const path = require('node:path');
const { parseArgs } = require('./args');
const { loadConfig } = require('./config');
const { Refused, StoreError, UsageError } = require('./errors');
const { helpOf, overview } = require('./help');

const COMMANDS = {
  serve: require('./commands/serve'),
  post: require('./commands/post'),
  balances: require('./commands/balances'),
  entries: require('./commands/entries'),
  statement: require('./commands/statement'),
  trial: require('./commands/trial'),
  fees: require('./commands/fees'),
  ageing: require('./commands/ageing'),
  import: require('./commands/import'),
  export: require('./commands/export'),
  verify: require('./commands/verify'),
  rebuild: require('./commands/rebuild'),
};

/** Carries out a command line; its exit status. */
async function main(words) {
  const [name, ...rest] = words;
  if (!name || name === '--help' || name === 'help') {
    console.log(overview(COMMANDS));
    return name ? 0 : 2;
  }
  const command = COMMANDS[name];
  if (!command) return complain(`there is no command ${name}; see tally --help`, 2);
  try {
    const args = parseArgs(rest, command.options);
    if (args.help) {
      console.log(helpOf(name, command));
      return 0;
    }
    return (await command.run(args, contextOf(args))) || 0;
  } catch (error) {
    return statusOf(error);
  }
}

function contextOf(args) {
  const root = path.join(__dirname, '..');
  const folder = args.config || process.env.TALLY_CONFIG || path.join(root, 'config');
  return { data: args.data || process.env.TALLY_DATA || path.join(root, 'data'), config: loadConfig(folder) };
}

function statusOf(error) {
  if (error instanceof UsageError) return complain(error.message, 2);
  if (error instanceof Refused) return complain(error.message, 1);
  if (error instanceof StoreError) return complain(error.message, error.code);
  if (error.code === 'ENOENT') return complain(`there is no ${error.path}`, 2);
  throw error;
}

function complain(message, status) {
  console.error(`tally: ${message}`);
  return status;
}

module.exports = { main };
