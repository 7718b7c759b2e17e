'use strict';

const { UsageError } = require('./errors');
const { lines } = require('./plan');
const { parseTime } = require('./time');

const HEADS = {
  'time,job,bytes,kind,vault': 1,
  // until 2.0 the agents wrote units of 1024 bytes
  'time,job,kb,kind,vault': 1024,
};
const KINDS = ['full', 'incr'];

// All backups that the agents have reported, in the order of the file: one line each, appended when a
// backup is complete. `bytes` is what was reported, `size` the same in KiB, rounded up, as plain output has it. Times are
// seconds since 1970.
function readCatalogue(file) {
  const rows = lines(file)
    .map((line, i) => ({ text: line.trim(), where: `${file}:${i + 1}` }))
    .filter(({ text }) => text !== '' && !text.startsWith('#'));
  const head = rows.shift();
  if (!head) return [];
  const factor = Object.hasOwn(HEADS, head.text) ? HEADS[head.text] : undefined;
  if (factor === undefined) throw new UsageError(`${head.where}: unknown head '${head.text}'.`);
  return rows.map(({ text, where }) => record(text.split(','), where, factor));
}

function record(cells, where, factor) {
  if (cells.length !== 5) throw new UsageError(`${where}: 5 cells are needed, not ${cells.length}.`);
  const [time, job, size, kind, vault] = cells.map((cell) => cell.trim());
  if (!/^\d{1,15}$/.test(size)) throw new UsageError(`${where}: '${size}' is no size.`);
  if (!KINDS.includes(kind)) throw new UsageError(`${where}: '${kind}' is neither full nor incr.`);
  const bytes = Number(size) * factor;
  return {
    at: parseTime(time, where),
    job,
    bytes,
    size: Math.ceil(bytes / 1024),
    kind,
    vault,
  };
}

// A job's records, oldest first; of two in the same second, the one that was reported first.
function ofJob(records, name) {
  return records.filter((record) => record.job === name).sort((a, b) => a.at - b.at);
}

module.exports = { readCatalogue, ofJob };
