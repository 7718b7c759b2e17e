'use strict';

/** Rows of texts as columns; those whose name is in `right` end together. */
function table(names, rows, right = []) {
  const widths = names.map((name, index) => Math.max(name.length, ...rows.map((row) => String(row[index]).length)));
  const line = (cells) =>
    cells
      .map((cell, index) => pad(String(cell), widths[index], right.includes(names[index])))
      .join('  ')
      .trimEnd();
  return [names, ...rows].map(line).join('\n');
}

const pad = (text, width, isRight) => (isRight ? text.padStart(width) : text.padEnd(width));

module.exports = { table };
