'use strict';

const files = new Map([
  [
    'board.css',
    `
html { background: white; color: #222; font-family: Georgia, serif; }
body { margin: 1em; }
a { color: #00499e; }
figure { margin: 1em 0; max-width: 46em; }
.field { fill: #f2f2ee; }
.bar { fill: #4a6d3a; }
.axis { stroke: #222; stroke-width: 0.4; }
.goal { stroke: #a30000; stroke-width: 0.6; }
svg text { font-size: 4.4px; text-anchor: middle; fill: #222; }
#numbers { overflow: auto; }
td, th { padding: 2px 8px; text-align: right; }
tfoot { border-top: 2px solid; font-weight: bold; }
`,
  ],
  [
    'dark.css',
    `
html { background: #191919; color: #eee; }
a { color: #9cc4ff; }
.field { fill: #242424; }
.bar { fill: #a6cf8f; }
.axis { stroke: #eee; }
.goal { stroke: #ff9a9a; }
svg text { fill: #eee; }
`,
  ],
  [
    'paper.css',
    `
nav, .get { display: none; }
.field { fill: none; }
.bar { fill: #fff; stroke: #000; stroke-width: 0.5; }
svg text { fill: #000; }
#numbers { overflow: visible; }
`,
  ],
]);

const links = [
  '<link rel="stylesheet" href="board.css">',
  '<link rel="stylesheet" media="screen and (prefers-color-scheme: dark)" href="dark.css">',
  '<link rel="stylesheet" media="print" href="paper.css">',
].join('\n');

module.exports = { files, links };
