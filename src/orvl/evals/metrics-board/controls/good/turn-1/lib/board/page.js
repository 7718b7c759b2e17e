'use strict';

const { euros } = require('../money');
const { chart } = require('./chart');
const { COLUMNS } = require('./columns');
const { escape } = require('./escape');
const { STYLE } = require('./style');

function page({ name, week, rows, total, goal, file }) {
  const heading = `${escape(name)}, week ${week}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${heading}</h1>
<nav><a href="#net">Net</a> <a href="#visits">Visits</a> <a href="#table">Table</a></nav>
</header>
<main>
<section id="net"><h2>Net, in euros</h2>
${chart({ title: 'Net', ...series(rows, 'net', euros), goal })}
<p class="note">The dashed line is the goal: ${euros(goal)} a day.</p></section>
<section id="visits"><h2>Visits</h2>
${chart({ title: 'Visits', ...series(rows, 'visits', String) })}</section>
<section id="table"><h2>All numbers</h2>
${table([...rows, total])}
<p class="download"><a href="${file}" download>Download as CSV</a></p></section>
</main>
</body>
</html>
`;
}

function series(rows, name, textOf) {
  const values = rows.map((row) => row[name]);
  return { values, texts: values.map(textOf), days: rows.map((row) => row.day) };
}

function table(rows) {
  const head = COLUMNS.map((column) => `<th scope="col">${column.name}</th>`).join('');
  const lines = rows.map((row) => {
    const [day, ...rest] = COLUMNS.map((column) => column.text(row) || '–');
    return `<tr><th scope="row">${day}</th>${rest.map((text) => `<td>${text}</td>`).join('')}</tr>`;
  });
  return `<div class="wide"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${lines.join('\n')}\n</tbody>\n</table></div>`;
}

module.exports = { page };
