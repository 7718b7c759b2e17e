#!/usr/bin/env node
// Support: history.js [OPTIONS FOR COFFER], a job's backups and the holes between them, as one list, oldest first.
'use strict';

const { coffer } = require('../shared/coffer');

const args = process.argv.slice(2);
const backups = coffer('list', args).rows.map((row) => [row.time, `${row.job} ${row.kind} ${row.size} in ${row.vault}`]);
const holes = coffer('gaps', args).rows.map((row) => [
  row.from,
  `${row.job} HOLE of ${Math.floor(row.length / 60)} h ${row.length % 60} min ${row.to === null ? 'until now' : `until ${row.to}`}`,
]);
for (const [time, text] of [...backups, ...holes].sort(([a], [b]) => Date.parse(a) - Date.parse(b))) {
  console.log(`${new Date(time).toISOString()} ${text}`);
}
