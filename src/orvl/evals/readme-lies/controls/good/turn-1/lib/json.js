'use strict';

const { isoTime } = require('./time');

// A command's result as one document, see docs/json.md. Rows and their order are those of plain output.
function toJson(command, now, { rows, total }) {
  const document = { command, now: isoTime(now), '{{key}}': rows };
  if (total !== undefined) document.total = total;
  return `${JSON.stringify(document, null, 2)}\n`;
}

module.exports = { toJson };
