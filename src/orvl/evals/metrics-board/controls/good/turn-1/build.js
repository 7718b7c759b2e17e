#!/usr/bin/env node
'use strict';

const { boardFiles } = require('./lib/board/board');
const { ExportError } = require('./lib/board/exports');
const { readOptions } = require('./lib/board/options');
const { writeAll } = require('./lib/board/output');
const { UserError } = require('./lib/errors');

const UNREADABLE_EXPORT = 1;
const WRONG_CALL = 2;

try {
  const options = readOptions(process.argv.slice(2));
  writeAll(options.out, boardFiles(options));
} catch (error) {
  if (!(error instanceof ExportError || error instanceof UserError)) throw error;
  process.stderr.write(`build: ${error.message}\n`);
  process.exitCode = error instanceof ExportError ? UNREADABLE_EXPORT : WRONG_CALL;
}
