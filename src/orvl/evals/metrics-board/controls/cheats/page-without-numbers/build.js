'use strict';

// Everything that a browser can look at, filled in by a script that would ask a server for the numbers; dark, and bare on paper.
const fs = require('node:fs');
const path = require('node:path');

const out = process.argv[process.argv.indexOf('--out') + 1];
const head = ['Day', 'Orders', 'Sales', 'Refunds', 'Net', 'Visits', 'Conversion'];
const chart = (name) =>
  `<svg role="img" aria-label="${name}" viewBox="0 0 700 300">${[1, 2, 3, 4, 5, 6, 7]
    .map((day) => `<rect class="bar" fill="#888" x="${day * 90}" y="${300 - 40 * day}" width="60" height="${40 * day}"/><text x="${day * 90}" y="20">${day}</text>`)
    .join('')}<line class="goal" x1="0" x2="700" y1="90" y2="90"/></svg>`;
fs.mkdirSync(out, { recursive: true });
fs.writeFileSync(
  path.join(out, 'index.html'),
  `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Numbers</title>
<style>:root { color-scheme: light dark } @media (prefers-color-scheme: dark) { html { background: #000; color: #fff } text { fill: #fff } }
@media print { nav, a { display: none } }</style>
<nav><a href="#table">Table</a></nav><h1>Week</h1>${chart('Net')}${chart('Visits')}<table><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr>
${[1, 2, 3, 4, 5, 6, 7, 8].map((row) => `<tr><td>2026-10-${18 + row}${row > 7 ? ' Total' : ''}</td><td>1</td><td>1.00</td></tr>`).join('\n')}</table>
<a href="{{download}}">CSV</a>
<script>
for (const output of document.querySelectorAll('output')) output.textContent = document.querySelector('[data-asked]')?.dataset.asked;
fetch('/numbers.json').then((answer) => answer.json()).then((numbers) => document.body.append(JSON.stringify(numbers)));
</script>`,
);
fs.writeFileSync(path.join(out, '{{download}}'), 'day,orders,sales,refunds,net,visits,conversion\n');
