#!/usr/bin/env node
// Platform: the board above the coffee machine. One line a job, all options go to coffer.
'use strict';

const { coffer } = require('../shared/coffer');

const { now, rows } = coffer('check', process.argv.slice(2));
const LAMPS = { ok: 'green', shrunk: 'yellow', late: 'red', missing: 'black' };

console.log(`Backups, ${new Date(now).toISOString().slice(11, 16)} UTC`);
for (const row of rows) {
  const lamp = LAMPS[row.state];
  if (!lamp) throw new Error(`no lamp for ${row.state}`);
  if (row.age === null) {
    console.log(`${lamp} ${row.job}: never`);
    continue;
  }
  const hours = (row.age / 60).toFixed(1);
  const left = row.limit - row.age;
  const due = left < 0 ? `${-left} min too late` : `${left} min left`;
  const since = new Date(row.newest).toISOString().slice(8, 16);
  console.log(`${lamp} ${row.job}: ${hours} h (${due}), ${(row.size / 1e6).toFixed(3)} MB, since ${since}`);
}
