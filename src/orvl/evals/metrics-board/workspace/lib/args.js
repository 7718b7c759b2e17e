'use strict';

const { UserError } = require('./errors');

/** Options as `--name value`. All of those that are known must be given. */
function parseArgs(words, known) {
  const options = {};
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at].replace(/^--/, '');
    if (!known.includes(name)) throw new UserError(`what is ${words[at]}?`);
    if (words[at + 1] === undefined) throw new UserError(`${words[at]} needs a value`);
    options[name] = words[at + 1];
  }
  for (const name of known) {
    if (!(name in options)) throw new UserError(`--${name} is missing`);
  }
  return options;
}

module.exports = { parseArgs };
