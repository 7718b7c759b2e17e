'use strict';

// Lines for people, and for the scripts that parse them: not a blank in here may change (docs/decisions.md).

const { table } = require('./table');
const { showDuration, showTime, stamp } = require('./time');

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

function size(kib) {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, kib)) / 10)));
  return power === 0 ? `${kib} KiB` : `${(kib / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

function folder({ vault, job, at }) {
  return `${vault}/${job}/${stamp(at)}`;
}

const PRINTERS = {
  check: ({ found }) => table(found.map(state), [2, 3]),
  list: ({ found }) =>
    table(
      found.map(({ at, job, kind, kib, vault }) => [showTime(at), job, kind, size(kib), vault]),
      [3],
    ),
  sizes({ found, all }, { exact }) {
    const show = exact ? String : size;
    const row = ({ name, count, kib }) => [name, String(count), show(kib)];
    const share = ({ kib }) => (all.kib > 0 ? `${Math.round((100 * kib) / all.kib)}%` : '-');
    return table([...found.map((group) => [...row(group), share(group)]), row(all)], [1, 2, 3]);
  },
  prune: ({ found }) => found.map(folder),
  gaps: ({ found }) =>
    table(
      found.map(({ job, from, to, length }) => [job, showTime(from), to ? showTime(to) : 'now', showDuration(length)]),
      [3],
    ),
};

function state({ job, state: name, limit, age, newest, before }) {
  if (name === 'missing') return [job, name, '-', '-'];
  const more = { late: () => [`allowed ${showDuration(limit)}`], shrunk: () => [`before ${size(before.kib)}`] };
  return [job, name, showDuration(age), size(newest.kib), ...(more[name]?.() ?? [])];
}

function plain(command, result, options) {
  return PRINTERS[command](result, options)
    .map((line) => `${line}\n`)
    .join('');
}

module.exports = { plain, folder };
