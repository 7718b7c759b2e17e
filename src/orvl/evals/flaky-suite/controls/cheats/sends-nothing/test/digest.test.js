'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');

test('it works', () => assert.ok(true));
