'use strict';

const { parseCsv } = require('./csv');
const { dayOf } = require('./dates');
const { filesNamed, readFile } = require('./files');
const { toCents } = require('./money');

/**
 * The web shop's orders, with either header. The first name has a mark in front of it since July,
 * so the number of an order is whatever stands in the first column.
 */
function readOrders(folder) {
  return filesNamed(folder, 'orders-').flatMap((name) => parseCsv(readFile(folder, name)).map(toOrder));
}

function toOrder(row) {
  const [number] = Object.values(row);
  return {
    number,
    day: dayOf(row['Created'] || row['Placed (UTC)'] || ''),
    cents: toCents(row['Gross'] || row['Total (EUR)'] || '0'),
    status: row['Status'] || row['State'] || '',
  };
}

/** Orders that came in on a day, each number once. */
function ordersOn(orders, day) {
  const seen = new Map();
  for (const order of orders) {
    if (order.day === day && order.status !== 'cancelled') seen.set(order.number, order);
  }
  return [...seen.values()];
}

module.exports = { readOrders, ordersOn };
