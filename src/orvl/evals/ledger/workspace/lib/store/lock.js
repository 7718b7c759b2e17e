'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { StoreError } = require('../errors');

const NAME = 'tally.lock';

/** One writer at a time: the service, or one command. */
function lock(folder) {
  const file = path.join(folder, NAME);
  try {
    fs.writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    throw new StoreError(4, `${file}: in use by process ${fs.readFileSync(file, 'utf8').trim()}`);
  }
  return () => fs.rmSync(file, { force: true });
}

module.exports = { lock };
