'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { chart } = require('../lib/board/chart');

test('bars hang from the zero line and have their numbers', () => {
  const svg = chart({ title: 'Net', values: [100, -100], texts: ['1.00', '-1.00'], days: ['2026-10-19', '2026-10-20'] });
  assert.match(svg, /class="bar" x="15" y="0" width="70" height="120"/);
  assert.match(svg, /class="bar" x="115" y="120" width="70" height="120"/);
  assert.match(svg, />-1\.00<\/text>/);
});
