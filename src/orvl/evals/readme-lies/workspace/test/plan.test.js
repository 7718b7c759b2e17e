'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { site } = require('./helpers');

test('mistakes in the plan are told with their line', () => {
  const wrong = {
    '[Web]\n': 'Web',
    '[web]\nevery 24h\n': ':2',
    '[web]\nevery = often\n': 'often',
    '[web]\nkeep = 0\n': 'keep',
    '[web]\nshrink = half\n': 'shrink',
    '[web]\n[web]\n': ':2',
    'colour = red\n': ':1',
  };
  for (const [plan, told] of Object.entries(wrong)) {
    const { out, err, status } = site(plan, [])('check');
    assert.equal(out, '');
    assert.equal(status, 2);
    assert.match(err, new RegExp(`^coffer: .*${told}`));
  }
});

test('mistakes in the catalogue, too', () => {
  for (const row of ['2026-03-05T12:00:00Z,web,3000,full', 'yesterday,web,1,full,attic', '2026-03-05,web,-1,full,attic', '2026-03-05,web,1,half,attic']) {
    const { err, status } = site('[web]\n', [row])('list');
    assert.equal(status, 2);
    assert.match(err, /\.csv:2: /);
  }
  assert.equal(site('[web]\n', [], 'a,b,c')('list').status, 2);
});

test('defaults, comments and own keys', () => {
  const plan = '# ours\n[defaults]\nevery = 1h ; fast\ngrace = 0m\n\n[web]\n[db]\nevery = 2h\n';
  const rows = ['2026-03-10T10:30:00Z,web,1024,full,attic', '2026-03-10T10:30:00Z,db,1024,full,attic'];
  assert.equal(site(plan, rows)('check').out, 'web  late  1h  1 KiB  allowed 1h\ndb   ok    1h  1 KiB\n');
});

test('options', () => {
  const coffer = site('[web]\n', []);
  for (const args of [['check', '--loud'], ['check', '-q'], ['check', '--quiet=yes'], ['list', '--last'], ['help', 'me'], ['fly']]) {
    assert.equal(coffer(...args).status, 2, args.join(' '));
  }
  assert.equal(coffer('check', '--help').status, 0);
});
