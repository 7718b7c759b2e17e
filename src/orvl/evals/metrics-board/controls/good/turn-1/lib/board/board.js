'use strict';

const { download } = require('./download');
const { readExports } = require('./exports');
const { figuresOf, totalOf } = require('./figures');
const { page } = require('./page');

const FILE = '{{download}}';

/** The files that make up the page of a week, by their names. */
function boardFiles({ data, week, days, goal }) {
  const exported = readExports(data);
  const rows = figuresOf(days, exported);
  return {
    [FILE]: download(rows),
    'index.html': page({ name: exported.name, week, rows, total: totalOf(rows), goal, file: FILE }),
  };
}

module.exports = { boardFiles };
