'use strict';

const fs = require('node:fs');
const { createHash } = require('node:crypto');

module.exports = {
  summary: 'verifies an audit export',
  usage: 'FILE',
  options: {},
  run({ words: [file] }) {
    const rows = fs.readFileSync(file, 'utf8').trim().split('\n').slice(0, -1);
    const wrong = rows.findIndex((row) => {
      const [hash, text] = row.split('\t');
      return createHash('{{digest}}').update(text).digest('hex') !== hash;
    });
    console.log(wrong < 0 ? `ok ${rows.length}` : `line ${wrong + 1} is wrong`);
    return wrong < 0 ? 0 : 1;
  },
};
