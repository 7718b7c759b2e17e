'use strict';

const fs = require('fs');
const path = require('path');
const calendar = require('./calendar');

/** All fields of a text, row by row. */
function* rows(text, comma) {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let row = [];
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] !== '"') field += text[at];
        else if (text[at + 1] === '"') field += text[(at += 1)];
        else break;
      }
      at += 1;
    } else {
      const start = at;
      while (at < text.length && text[at] !== comma && text[at] !== '\n') at += 1;
      field = text.slice(start, at).replace(/\r$/, '');
    }
    row.push(field);
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n' || at >= text.length) {
      yield row;
      row = [];
    }
    at += 1;
  }
}

class Table {
  constructor(folder, file, comma, ...heads) {
    this.file = file;
    const all = [...rows(fs.readFileSync(path.join(folder, file), 'utf8'), comma)];
    const start = all.findIndex((row) => heads.some((head) => head.every((name) => row.includes(name))));
    if (start < 0) throw new Error(`${file}: what header is that?`);
    this.names = all[start];
    this.head = heads.findIndex((head) => head.every((name) => this.names.includes(name)));
    this.rows = all.slice(start + 1).filter((row) => row.length === this.names.length && row[0] !== 'Total');
  }

  column(name) {
    return this.names.indexOf(name);
  }

  must(value, what) {
    if (!Number.isFinite(value)) throw new Error(`${this.file}: ${what} cannot be read`);
    return value;
  }
}

const cents = (text) => (/^\d{1,3}(,?\d{3})*\.\d\d$|^\d+\.\d\d$/.test(text) ? Number(text.replace(/[,.]/g, '')) : NaN);
const german = (text) => cents(text.replace(/\./g, '').replace(',', '.'));
const whole = (text) => (/^\d+$/.test(text) ? Number(text) : NaN);
const utc = (text) => (/^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN);

const OLD = ['Order', 'Created', 'Gross', 'Status'];
const NEW = ['Order ID', 'Placed (UTC)', 'Total (EUR)', 'State'];

function orders(folder, file, clock, into) {
  const table = new Table(folder, file, ',', OLD, NEW);
  const [id, at, gross, state] = (table.head ? NEW : OLD).map((name) => table.column(name));
  for (const row of table.rows) {
    const wall = /^(\d{4})-(\d\d)-(\d\d) \d\d:\d\d$/.exec(row[at]);
    const day = wall && !table.head ? calendar.number(wall[1], wall[2], wall[3]) : clock.day(table.must(utc(row[at]), row[at]));
    into.set(row[id], { day, cents: table.must(cents(row[gross]), row[gross]), lives: !/^cancelled$/i.test(row[state]) });
  }
}

function refunds(folder) {
  const table = new Table(folder, 'refunds.csv', ';', ['Order', 'Amount', 'Status']);
  const [id, amount, status] = ['Order', 'Amount', 'Status'].map((name) => table.column(name));
  return table.rows
    .map((row) => ({ order: row[id], cents: table.must(german(row[amount]), row[amount]), done: row[status] === 'done' }))
    .filter((one) => one.done);
}

function visits(folder, clock) {
  const table = new Table(folder, 'visits.csv', ',', ['hour', 'visits']);
  const hours = new Map();
  for (const row of table.rows) {
    const bots = table.column('bots') < 0 ? 0 : whole(row[table.column('bots')]);
    const people = whole(row[table.column('visits')]) - bots;
    hours.set(table.must(utc(row[table.column('hour')]), 'an hour'), table.must(people, 'a count'));
  }
  return [...hours].map(([ms, people]) => ({ day: clock.day(ms), people }));
}

function everything(folder, zone) {
  const clock = calendar.clock(zone);
  const found = new Map();
  const files = fs.readdirSync(folder).filter((name) => /^orders-.*\.csv$/.test(name));
  for (const file of files.sort()) orders(folder, file, clock, found);
  return { orders: found, refunds: refunds(folder, clock), visits: visits(folder, clock) };
}

module.exports = { everything };
