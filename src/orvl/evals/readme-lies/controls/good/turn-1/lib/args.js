'use strict';

const { UsageError } = require('./errors');

const COMMON = { plan: 'value', catalogue: 'value', now: 'value', json: 'flag', help: 'flag' };

// Options by command. 'value' wants one, as --name value or --name=value.
const OPTIONS = {
  check: { ...COMMON, quiet: 'flag', strict: 'flag' },
  list: { ...COMMON, after: 'value', vault: 'value', last: 'value' },
  sizes: { ...COMMON, by: 'value', exact: 'flag' },
  prune: { ...COMMON, keep: 'value' },
  gaps: { ...COMMON, over: 'value' },
};

function parseArgs(argv) {
  const [command, ...rest] = argv;
  if (command === undefined || command === '--help' || command === '-h') {
    return { command: 'help', names: [], options: {} };
  }
  if (command === '--version') return { command, names: [], options: { version: true } };
  if (command === 'help') return { command, names: rest, options: {} };
  const known = Object.hasOwn(OPTIONS, command) ? OPTIONS[command] : undefined;
  if (known === undefined) throw new UsageError(`there is no command '${command}'. Try coffer --help.`);
  const names = [];
  const options = {};
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i];
    if (!word.startsWith('--')) {
      if (word.startsWith('-') && word !== '-') throw new UsageError(`${command} does not know ${word}.`);
      names.push(word);
      continue;
    }
    const [flag, inline] = split(word);
    const kind = Object.hasOwn(known, flag) ? known[flag] : undefined;
    if (kind === undefined) throw new UsageError(`${command} does not know --${flag}.`);
    if (kind === 'flag') {
      if (inline !== undefined) throw new UsageError(`--${flag} takes no value.`);
      options[flag] = true;
      continue;
    }
    const value = inline !== undefined ? inline : rest[++i];
    if (value === undefined || value === '') throw new UsageError(`--${flag} needs a value.`);
    options[flag] = value;
  }
  return { command, names, options };
}

function split(word) {
  const at = word.indexOf('=');
  return at < 0 ? [word.slice(2), undefined] : [word.slice(2, at), word.slice(at + 1)];
}

// A whole number above zero, such as --keep 7.
function wholeNumber(text, name) {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`${name} wants a whole number, not '${text}'.`);
  return Number(text);
}

module.exports = { parseArgs, wholeNumber };
