'use strict';

const fs = require('node:fs');
const path = require('node:path');

function writeAll(folder, files) {
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
}

module.exports = { writeAll };
