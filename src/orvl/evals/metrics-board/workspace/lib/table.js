'use strict';

/** Rows of texts in columns: the first column to the left, all others to the right. */
function columns(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  return rows
    .map((row) => row.map((text, at) => (at ? text.padStart(widths[at]) : text.padEnd(widths[at]))).join('  '))
    .map((line) => line.trimEnd());
}

module.exports = { columns };
