#!/usr/bin/env node
'use strict';

const { parseArgs } = require('./lib/args');
const { main } = require('./lib/errors');
const { mail } = require('./lib/mail');

main('mail', (words) => {
  const { data, week } = parseArgs(words, ['data', 'week']);
  return mail(data, week);
});
