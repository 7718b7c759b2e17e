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
svg text { font-size: 5px; text-anchor: middle; fill: #222; }
#numbers { overflow: auto; }
td, th { padding: 2px 8px; text-align: right; }
tfoot { border-top: 2px solid; font-weight: bold; }
`,
  ],
]);

const links = '<link rel="stylesheet" href="board.css">';

module.exports = { files, links };
