'use strict';

// Rows of texts as lines whose columns stand below each other, two blanks apart. `right` has the numbers of
// the columns that are aligned to the right. No line ends in blanks.
function table(rows, right = []) {
  const widths = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] || 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd(),
  );
}

module.exports = { table };
