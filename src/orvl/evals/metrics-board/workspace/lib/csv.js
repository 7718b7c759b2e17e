'use strict';

/**
 * Rows of a CSV text as objects, by the names in its first line.
 * Lines with too few fields are left out: the web shop sometimes cuts them off.
 */
function parseCsv(text, separator = ',') {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  const names = splitLine(lines.shift() || '', separator);
  return lines
    .map((line) => splitLine(line, separator))
    .filter((fields) => fields.length >= names.length)
    .map((fields) => Object.fromEntries(names.map((name, at) => [name, fields[at]])));
}

function splitLine(line, separator) {
  const fields = [];
  let field = '';
  let quoted = false;
  for (const sign of line) {
    if (sign === '"') quoted = !quoted;
    else if (sign === separator && !quoted) {
      fields.push(field);
      field = '';
    } else field += sign;
  }
  fields.push(field);
  return fields;
}

module.exports = { parseCsv, splitLine };
