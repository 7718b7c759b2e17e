'use strict';

const { UsageError } = require('../errors');
const { showSize } = require('../size');
const { table } = require('../table');

const GROUPS = ['job', 'vault', 'kind'];

// What the backups take, by job, vault or kind, the largest first. With --exact in KiB.
module.exports = function sizes({ options, names, records }) {
  const by = options.by || 'job';
  if (!GROUPS.includes(by)) throw new UsageError(`--by is one of ${GROUPS.join(', ')}, not '${by}'.`);
  const show = options.exact ? String : showSize;
  const groups = new Map();
  let total = 0;
  let totalBytes = 0;
  let count = 0;
  for (const record of records) {
    if (names.length > 0 && !names.includes(record.job)) continue;
    const group = groups.get(record[by]) || { size: 0, bytes: 0, count: 0 };
    group.size += record.size;
    group.bytes += record.bytes;
    group.count += 1;
    groups.set(record[by], group);
    total += record.size;
    totalBytes += record.bytes;
    count += 1;
  }
  const sorted = [...groups].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1));
  const columns = sorted.map(([name, group]) => [
    name,
    String(group.count),
    show(group.size),
    total > 0 ? `${Math.round((100 * group.size) / total)}%` : '-',
  ]);
  columns.push(['total', String(count), show(total)]);
  const rows = sorted.map(([name, { bytes, count }]) => ({
    name,
    count,
    size: bytes,
    share: totalBytes > 0 ? bytes / totalBytes : null,
  }));
  return { lines: table(columns, [1, 2, 3]), rows, total: totalBytes, status: 0 };
};
