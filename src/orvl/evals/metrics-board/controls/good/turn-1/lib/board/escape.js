'use strict';

const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text as it may stand in HTML and in its attributes. */
function escape(text) {
  return String(text).replace(/[&<>"]/g, (sign) => SIGNS[sign]);
}

module.exports = { escape };
