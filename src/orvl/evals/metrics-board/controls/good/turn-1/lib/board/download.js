'use strict';

const { COLUMNS } = require('./columns');

/** The numbers of the days as CSV. None of the texts needs quotes. */
function download(rows) {
  const lines = rows.map((row) => COLUMNS.map((column) => column.text(row)));
  return [COLUMNS.map((column) => column.name.toLowerCase()), ...lines].map((fields) => `${fields.join(',')}\n`).join('');
}

module.exports = { download };
