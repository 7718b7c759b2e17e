'use strict';

const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2430; --link: #0b5cad; --bar: #2f6fb2; --goal: #a03a00; --rule: #c4ccd6; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ee; --link: #8ec1ff; --bar: #6aa7e8; --goal: #ffb37a; --rule: #434c59; }
}
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
a { color: var(--link); }
nav a { margin-right: 1rem; }
svg { display: block; width: 100%; height: auto; font-size: 14px; fill: var(--ink); }
.bar { fill: var(--bar); }
.zero { stroke: var(--ink); }
.goal { stroke: var(--goal); stroke-dasharray: 6 4; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child { text-align: left; }
tr:last-child { font-weight: bold; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --bar: #999; --goal: #000; --rule: #666; }
  nav, .download { display: none; }
  .wide { overflow: visible; }
  section, table { break-inside: avoid; }
}
`;

module.exports = { STYLE };
