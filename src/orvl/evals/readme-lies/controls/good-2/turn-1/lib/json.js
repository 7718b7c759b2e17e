'use strict';

// For programs: docs/json.md. Bytes, minutes, UTC; null for what does not exist.

const { folder } = require('./plain');

const time = (at) => (at == null ? null : new Date(at * 1000).toISOString().replace('.000', ''));
const minutes = (seconds) => (seconds == null ? null : Math.floor(seconds / 60));
const backup = ({ at, job, kind, bytes, vault }) => ({ time: time(at), job, kind, size: bytes, vault });

const ROWS = {
  check: ({ job, state, limit, age, newest }) => ({
    job,
    state,
    newest: time(newest?.at),
    age: minutes(age),
    limit: minutes(limit),
    size: newest?.bytes ?? null,
  }),
  list: backup,
  sizes: ({ name, count, bytes }, { all }) => ({ name, count, size: bytes, share: all.bytes ? bytes / all.bytes : null }),
  prune: (record) => ({ ...backup(record), path: folder(record) }),
  gaps: ({ job, from, to, length }) => ({ job, from: time(from), to: time(to), length: minutes(length) }),
};

function json(command, now, result) {
  const rows = result.found.map((one) => ROWS[command](one, result));
  return `${JSON.stringify({ command, now: time(now), total: result.all?.bytes, '{{key}}': rows })}\n`;
}

module.exports = { json };
