// For all our scripts that read coffer's JSON. Platform keeps it; agreed with Ines.
'use strict';

const { spawnSync } = require('node:child_process');
const path = require('node:path');

const COFFER = path.join(__dirname, '..', '..', 'bin', 'coffer.js');

// Calls a command of coffer and gives { now, rows, total }. Something is wrong with the backups (1): no reason to stop.
function coffer(command, args) {
  const done = spawnSync(process.execPath, [COFFER, command, '--json', ...args], { encoding: 'utf8' });
  if (done.status !== 0 && done.status !== 1) {
    throw new Error(`coffer ${command} ended with ${done.status}: ${done.stderr}`);
  }
  const document = JSON.parse(done.stdout);
  return { now: document.now, rows: document.items, total: document.total };
}

module.exports = { coffer };
