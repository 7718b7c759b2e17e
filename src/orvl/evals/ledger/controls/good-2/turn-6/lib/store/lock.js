'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { StoreError } = require('../errors');

const NAME = 'tally.lock';

/** One writer at a time. Whoever holds the lock has its file open: so a file that nobody has open is of a process that is gone. */
function lock(folder) {
  const file = path.join(folder, NAME);
  const holder = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : '';
  if (holder && hasOpen(holder, fs.realpathSync(file))) throw new StoreError(4, `${file}: in use by process ${holder}`);
  fs.rmSync(file, { force: true });
  const fd = takes(file);
  fs.writeSync(fd, `${process.pid}\n`);
  return () => {
    fs.rmSync(file, { force: true });
    fs.closeSync(fd);
  };
}

function takes(file) {
  try {
    return fs.openSync(file, 'wx');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    throw new StoreError(4, `${file}: in use, since this very moment`);
  }
}

function hasOpen(pid, file) {
  const folder = `/proc/${pid}/fd`;
  if (!/^\d+$/.test(pid) || !fs.existsSync(folder)) return false;
  return fs.readdirSync(folder).some((fd) => {
    try {
      return fs.readlinkSync(path.join(folder, fd)) === file;
    } catch {
      return false; // closed since
    }
  });
}

module.exports = { lock };
