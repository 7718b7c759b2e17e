'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { StoreError } = require('../errors');

const NAME = 'tally.lock';

/** One writer at a time: the service, or one command. What a process that is gone has left counts for nothing. */
function lock(folder) {
  const file = path.join(folder, NAME);
  const own = identityOf(process.pid);
  for (;;) {
    try {
      fs.writeFileSync(file, `${own}\n`, { flag: 'wx' });
      return () => fs.rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = fs.readFileSync(file, 'utf8').trim();
    if (isAlive(holder)) throw new StoreError(4, `${file}: in use by process ${holder.split(' ')[0]}`);
    fs.rmSync(file, { force: true });
  }
}

/** Numbers of processes come again, in a container even at once: the start of the process, and of the machine, tell them apart. */
function identityOf(pid) {
  try {
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]} ${boot}`;
  } catch {
    return isRunning(pid) ? `${pid}` : '';
  }
}

function isAlive(holder) {
  const [pid, ...more] = holder.split(' ');
  if (!more.length) return isRunning(Number(pid)) && Number(pid) !== process.pid;
  return identityOf(pid) === holder;
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

module.exports = { lock };
