'use strict';

/** Rows of a text with semicolons, as banks send it: fields may be quoted, quotes are doubled. */
function rowsOf(text, separator = ';') {
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (source[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && field === '') quoted = true;
    else if (sign === separator) {
      row.push(field);
      field = '';
    } else if (sign === '\n') {
      rows.push([...row, field]);
      row = [];
      field = '';
    } else field += sign;
  }
  if (field !== '' || row.length) rows.push([...row, field]);
  return rows.filter((one) => one.some((text_) => text_.trim() !== ''));
}

/** The same as objects, by the names in the first row. */
function objectsOf(text, separator) {
  const [head, ...rows] = rowsOf(text, separator);
  if (!head) return [];
  const names = head.map((name) => name.trim().toLowerCase());
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, (row[index] || '').trim()])));
}

module.exports = { rowsOf, objectsOf };
