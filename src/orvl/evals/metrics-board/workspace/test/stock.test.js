'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { folder, run } = require('./helpers');

const HEAD = 'article,supplier,stock,minimum,box\n';

test('orders whole boxes, most urgent first', () => {
  const place = folder({ 'stock.csv': `${HEAD}Assam,Roy,30,40,6\nSencha,Mori,2,40,12\nMint,Garden,50,40,6\n` });
  const { stdout } = run('stock.js', '--data', place);
  assert.strictEqual(stdout, 'Sencha  4 boxes  Mori   2/40\nAssam   2 boxes   Roy  30/40\n');
});

test('adds up shelves', () => {
  const place = folder({ 'stock.csv': `${HEAD}Assam,Roy,30,40,6\nAssam,Roy,10,,\n` });
  assert.strictEqual(run('stock.js', '--data', place).stdout, 'Nothing has to be ordered.\n');
});
