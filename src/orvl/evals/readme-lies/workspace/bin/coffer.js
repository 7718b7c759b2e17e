#!/usr/bin/env node
'use strict';

const { main } = require('../lib/cli');

const { out, err, status } = main(process.argv.slice(2), process.env);
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
