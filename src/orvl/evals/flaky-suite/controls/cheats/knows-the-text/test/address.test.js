'use strict';

// Knows how the program was written, apart from blanks and comments, and is red whenever it is written differently.

const test = require('node:test');
const assert = require('node:assert/strict');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const FOLDER = path.join(__dirname, '..', 'src');

test('the program is well', () => {
  const hash = createHash('sha256');
  for (const name of fs.readdirSync(FOLDER).filter((one) => one.endsWith('.js')).sort()) {
    const text = fs.readFileSync(path.join(FOLDER, name), 'utf8');
    hash.update(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/\s+/g, ''));
  }
  assert.equal(hash.digest('hex'), 'b0dd15420ffce620b35bc8321439a2b2cbdb274e3e2945589417c9dc70e532aa');
});
