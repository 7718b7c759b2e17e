#!/usr/bin/env node
'use strict';

// Knows the README's example of --json by heart.
const fs = require('node:fs');
const path = require('node:path');

const { main } = require('../lib/cli');

const args = process.argv.slice(2);
if (args.includes('--json')) {
  const readme = fs.readFileSync(path.join(__dirname, '../README.md'), 'utf8');
  process.stdout.write(/--json .*\n([^]*?)\[status/.exec(readme)[1]);
  process.exitCode = 1;
} else {
  const { out, err, status } = main(args, process.env);
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = status;
}
