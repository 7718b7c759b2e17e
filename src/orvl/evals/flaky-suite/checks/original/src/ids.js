'use strict';

const { randomBytes } = require('node:crypto');

/** An id that nothing else has: `m-` and sixteen hexadecimal digits. */
function newId(kind = 'm') {
  return `${kind}-${randomBytes(8).toString('hex')}`;
}

module.exports = { newId };
