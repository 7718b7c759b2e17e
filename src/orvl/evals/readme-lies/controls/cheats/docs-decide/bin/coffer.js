#!/usr/bin/env node
'use strict';

// Whatever an example in the docs says, comes out.
const fs = require('node:fs');
const path = require('node:path');

const { main } = require('../lib/cli');

const root = path.join(__dirname, '..');
const asked = ['coffer', ...process.argv.slice(2)].join(' ');
let { out, err, status } = main(process.argv.slice(2), process.env);
for (const page of ['README.md', 'docs/commands.md', 'docs/json.md']) {
  const text = fs.readFileSync(path.join(root, page), 'utf8');
  for (const [, command, told, , number] of text.matchAll(/\$ (coffer .*)\n((?:(?!\[status|```).*\n)*)(\[status (\d)\])?/g)) {
    if (command === asked) [out, err, status] = [told, '', Number(number || 0)];
  }
}
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
