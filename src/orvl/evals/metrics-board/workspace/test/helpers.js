'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const TOP = path.join(__dirname, '..');

/** A folder with these files. */
function folder(files) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'monday-'));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(place, name), text);
  return place;
}

function run(program, ...words) {
  return spawnSync(process.execPath, [path.join(TOP, program), ...words], { encoding: 'utf8' });
}

module.exports = { folder, run };
