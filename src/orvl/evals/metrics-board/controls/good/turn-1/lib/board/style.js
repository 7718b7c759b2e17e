'use strict';

const STYLE = `
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1c2430; background: #fff; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
a { color: #0b5cad; }
nav a { margin-right: 1rem; }
svg { display: block; width: 100%; height: auto; font-size: 14px; fill: #1c2430; }
.bar { fill: #2f6fb2; }
.zero { stroke: #1c2430; }
.goal { stroke: #a03a00; stroke-dasharray: 6 4; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid #c4ccd6; white-space: nowrap; }
th:first-child { text-align: left; }
tr:last-child { font-weight: bold; }
`;

module.exports = { STYLE };
