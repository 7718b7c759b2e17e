'use strict';

const { createHash } = require('node:crypto');

const KIND = '{{digest}}';
const hashOf = (...parts) => createHash(KIND).update(parts.join('\n'), 'utf8').digest('hex');
const ZEROS = hashOf('').replace(/./g, '0');
const q = JSON.stringify;

/** Entries one by one, each with its hash and its canonical form. */
function* chain({ entries, config: { currencies } }) {
  let hash = ZEROS;
  for (const entry of [...entries].sort((one, other) => one.id - other.id)) {
    const text = canonical(entry, currencies);
    hash = hashOf(hash, text);
    yield { hash, row: `${hash}\t${text}` };
  }
}

function canonical({ id, booked, date, memo, lines, reverses, corrects }, currencies) {
  const rows = lines.map(({ account, currency, amount }) => q([account, currency, currencies.format(amount, currency)]));
  const links = (reverses ? `,"reverses":${reverses}` : '') + (corrects ? `,"corrects":${corrects}` : '');
  // Accounts, currencies and amounts are plain ASCII above the quotation mark, so rows sort as their texts do.
  return `{"id":${id},"booked":${q(booked)},"date":${q(date)},"memo":${q(memo)},"lines":[${rows.sort().join(',')}]${links}}`;
}

/** The whole export. */
function write(books) {
  let [text, last, count] = ['', ZEROS, 0];
  for (const { hash, row } of chain(books)) {
    text += `${row}\n`;
    last = hash;
    count += 1;
  }
  return `${text}end\t${count}\t${last}\n`;
}

/** The number of the first line that the books do not have so, or 0. */
function firstWrongLine(bytes, books) {
  const rows = bytes.toString('binary').split('\n');
  const is = (row, text) => row === Buffer.from(text, 'utf8').toString('binary');
  let at = 0;
  let last = ZEROS;
  for (const { hash, row } of chain(books)) {
    if (at >= rows.length || !is(rows[at], row)) break;
    last = hash;
    at += 1;
  }
  if (!is(rows[at] || '', `end\t${at}\t${last}`)) return at + 1;
  if (rows.length === at + 2 && rows[at + 1] === '') return 0;
  return rows.length === at + 1 ? at + 1 : at + 2;
}

module.exports = { write, firstWrongLine };
