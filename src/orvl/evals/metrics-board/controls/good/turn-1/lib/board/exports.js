'use strict';

const { filesNamed, readFile, readShop } = require('../files');
const { amountInEuros, amountWithDecimalComma } = require('./amounts');
const { readRecords } = require('./records');
const { Zone } = require('./zone');

/** An export that cannot be read; the message names the file. */
class ExportError extends Error {}

const OLD_ORDERS = { number: 'Order', time: 'Created', amount: 'Gross', status: 'Status' };
const NEW_ORDERS = { number: 'Order ID', time: 'Placed (UTC)', amount: 'Total (EUR)', status: 'State' };
const REFUNDS = { order: 'Order', amount: 'Amount', status: 'Status' };
const VISITS = { hour: 'hour', visits: 'visits' };

function readExports(folder) {
  const { name, zone } = readShop(folder);
  const clock = new Zone(zone);
  return {
    name,
    orders: filesNamed(folder, 'orders-').flatMap((file) => readOrders(folder, file, clock)),
    refunds: readRefunds(folder),
    visits: readVisits(folder, clock),
  };
}

function readOrders(folder, file, clock) {
  const { names, rows } = readTable(folder, file, ',', [OLD_ORDERS, NEW_ORDERS]);
  const dayOf = names === OLD_ORDERS ? dayOnTheWall : (time) => dayOfMoment(time, clock);
  return rows.map((row) => ({
    number: row.number,
    day: known(dayOf(row.time), file, row.time),
    cents: known(amountInEuros(row.amount), file, row.amount),
    isCancelled: row.status.toLowerCase() === 'cancelled',
  }));
}

function readRefunds(folder) {
  const file = 'refunds.csv';
  return readTable(folder, file, ';', [REFUNDS])
    .rows.filter((row) => row.order)
    .map((row) => ({
      order: row.order,
      cents: known(amountWithDecimalComma(row.amount), file, row.amount),
      isFailed: row.status === 'failed',
    }));
}

function readVisits(folder, clock) {
  const file = 'visits.csv';
  const { rows } = readTable(folder, file, ',', [VISITS]);
  return rows.map((row) => ({
    hour: row.hour,
    day: known(dayOfMoment(row.hour, clock), file, row.hour),
    count: known(countIn(row.visits), file, row.visits) - known(countIn(row.bots ?? '0'), file, row.bots),
  }));
}

/** Rows as objects by our own names for the columns, and which of the known headers the file has. */
function readTable(folder, file, separator, headers) {
  const records = readRecords(readFile(folder, file), separator);
  for (const names of headers) {
    const columns = Object.values(names);
    const at = records.findIndex((fields) => columns.every((column) => fields.includes(column)));
    if (at >= 0) return { names, rows: records.slice(at + 1).map((fields) => toRow(fields, records[at], names)) };
  }
  throw new ExportError(`${file} has a header that nobody knows`);
}

function toRow(fields, header, names) {
  const own = Object.fromEntries(Object.entries(names).map(([key, column]) => [column, key]));
  const row = {};
  header.forEach((column, at) => {
    row[own[column] ?? column] = fields[at] ?? '';
  });
  return row;
}

function known(value, file, text) {
  if (value === null) throw new ExportError(`${file} has ${JSON.stringify(text)} where that cannot be`);
  return value;
}

function dayOnTheWall(time) {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(time) ? time.slice(0, 10) : null;
}

function dayOfMoment(time, clock) {
  const moment = /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(time) ? Date.parse(time) : NaN;
  return Number.isNaN(moment) ? null : clock.dayAt(moment);
}

function countIn(text) {
  return /^\d+$/.test(text) ? Number(text) : null;
}

module.exports = { ExportError, readExports };
