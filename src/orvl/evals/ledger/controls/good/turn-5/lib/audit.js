'use strict';

const { createHash } = require('node:crypto');

const ALGORITHM = '{{digest}}';
const DIGITS = createHash(ALGORITHM).digest('hex').length;

/** An entry as auditors see it (docs/audit.md): the same bytes for ever. */
function canonical(entry, currencies) {
  const lines = entry.lines.map(({ account, currency, amount }) => [account, currency, currencies.format(amount, currency)]);
  return JSON.stringify({
    id: entry.id,
    booked: entry.booked,
    date: entry.date,
    memo: entry.memo,
    lines: lines.sort(byTexts),
    reverses: entry.reverses,
    corrects: entry.corrects,
  });
}

function byTexts(one, other) {
  const at = one.findIndex((text, index) => text !== other[index]);
  if (at < 0) return 0;
  return one[at] < other[at] ? -1 : 1;
}

/** The chain over all entries: its lines, and behind `count` of them, the last line of an export. */
function chainOf(books) {
  const hashes = ['0'.repeat(DIGITS)];
  const lines = books.entries.map((entry) => {
    const text = canonical(entry, books.config.currencies);
    hashes.push(createHash(ALGORITHM).update(`${hashes[hashes.length - 1]}\n${text}`).digest('hex'));
    return `${hashes[hashes.length - 1]}\t${text}`;
  });
  return { lines, end: (count) => `end\t${count}\t${hashes[count]}` };
}

function auditExport(books) {
  const { lines, end } = chainOf(books);
  return [...lines, end(lines.length), ''].join('\n');
}

/** Compares an export with the books: how many entries it has, or the first line that is wrong. */
function verify(content, books) {
  const { lines, end } = chainOf(books);
  const rows = content.toString('latin1').split('\n');
  const isSame = (row, line) => row !== undefined && row === Buffer.from(line).toString('latin1');
  let count = 0;
  while (count < lines.length && isSame(rows[count], lines[count])) count += 1;
  if (!isSame(rows[count], end(count))) return { count, wrong: count + 1 };
  const isOver = rows.length === count + 2 && rows[count + 1] === '';
  return isOver ? { count, wrong: null } : { count, wrong: Math.min(rows.length, count + 2) };
}

module.exports = { auditExport, canonical, verify };
