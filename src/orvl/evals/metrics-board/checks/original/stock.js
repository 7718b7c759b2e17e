#!/usr/bin/env node
'use strict';

const { parseArgs } = require('./lib/args');
const { main } = require('./lib/errors');
const { stockList } = require('./lib/stock');

main('stock', (words) => stockList(parseArgs(words, ['data']).data));
