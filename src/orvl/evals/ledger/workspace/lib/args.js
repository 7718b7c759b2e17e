'use strict';

const { UsageError } = require('./errors');

const SHARED = { data: 'text', config: 'text', json: 'flag', help: 'flag' };

/** Options and words of a command: `options` names what it knows beside the shared ones. */
function parseArgs(words, options = {}) {
  const known = { ...SHARED, ...options };
  const found = { words: [] };
  const rest = [...words];
  while (rest.length) {
    const word = rest.shift();
    if (!word.startsWith('--')) {
      found.words.push(word);
      continue;
    }
    const [name, inline] = splitOption(word.slice(2));
    if (!known[name]) throw new UsageError(`there is no option --${name}`);
    if (known[name] === 'flag') {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      found[name] = true;
      continue;
    }
    const value = inline !== undefined ? inline : rest.shift();
    if (value === undefined) throw new UsageError(`--${name} needs a value`);
    found[name] = value;
  }
  return found;
}

function splitOption(text) {
  const at = text.indexOf('=');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

module.exports = { parseArgs };
