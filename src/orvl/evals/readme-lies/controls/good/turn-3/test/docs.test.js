'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { main } = require('../lib/cli');

process.chdir(path.join(__dirname, '..'));
const pages = ['README.md', ...fs.readdirSync('docs').map((name) => `docs/${name}`)];

for (const page of pages) {
  for (const [, block] of fs.readFileSync(page, 'utf8').matchAll(/^```console\n([^]*?)^```$/gm)) {
    const [first, ...rest] = block.trimEnd().split('\n');
    test(`${page}: ${first}`, () => {
      const args = first.split(' ').slice(2);
      const { out, status } = main(args, {});
      const told = status ? `${out}[status ${status}]` : out.trimEnd();
      const plain = (text) => (args.includes('--json') ? text.replace(/\s/g, '') : text);
      assert.equal(plain(rest.join('\n')), plain(told));
    });
  }
}
