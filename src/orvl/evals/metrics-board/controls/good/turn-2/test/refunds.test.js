'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { Zone } = require('../lib/board/zone');
const { figuresOf } = require('../lib/board/figures');

test('PayLane has winter time all year', () => {
  const zone = new Zone('Europe/Berlin');
  const day = (time) => zone.dayAt(zone.momentInWinterTime(Date.parse(time)));
  assert.strictEqual(day('2026-10-21T23:25:00Z'), '2026-10-22');
  assert.strictEqual(day('2026-10-25T23:35:00Z'), '2026-10-25');
});

test('refunds count when they were paid out, cancelled orders do not', () => {
  const orders = [
    { number: '1', day: '2026-10-18', cents: 500, isCancelled: false },
    { number: '2', day: '2026-10-19', cents: 700, isCancelled: true },
  ];
  const refunds = ['1', '2', '3'].map((order) => ({ order, day: '2026-10-19', cents: 100, isFailed: false }));
  const [row] = figuresOf(['2026-10-19'], { orders, refunds, visits: [] });
  assert.deepStrictEqual([row.refunds, row.net], [200, -200]);
});
