'use strict';

const { daysBefore, daysOf, weekday } = require('./dates');
const { readShop } = require('./files');
const { euros } = require('./money');
const { ordersOn, readOrders } = require('./orders');
const { columns } = require('./table');
const { readVisits } = require('./visits');

/** The text of the mail. Frozen: see docs/mail.md. */
function mail(folder, week) {
  const shop = readShop(folder);
  const orders = readOrders(folder);
  const visits = readVisits(folder);
  const days = daysOf(week).map((day) => figures(day, orders, visits));
  const before = daysBefore(week).map((day) => figures(day, orders, visits));
  const rows = [
    ['', 'orders', 'sales', 'visits'],
    ...days.map((one) => [`${weekday(one.day)} ${one.day}`, ...texts(one)]),
    ['week', ...texts(sum(days))],
    ['before', ...texts(sum(before))],
  ];
  const lines = [`Good morning! ${shop.name}, week ${week}`, '', ...columns(rows), '', verdict(sum(days), sum(before))];
  return `${lines.join('\n')}\n`;
}

function figures(day, orders, visits) {
  const found = ordersOn(orders, day);
  return {
    day,
    orders: found.length,
    cents: found.reduce((sum, order) => sum + order.cents, 0),
    visits: visits.get(day) || 0,
  };
}

function sum(days) {
  const total = { orders: 0, cents: 0, visits: 0 };
  for (const one of days) {
    for (const name of Object.keys(total)) total[name] += one[name];
  }
  return total;
}

function texts(one) {
  return [String(one.orders), euros(one.cents), String(one.visits)];
}

function verdict(now, before) {
  if (!before.cents) return 'Nothing to compare with.';
  const change = Math.round((100 * (now.cents - before.cents)) / before.cents);
  return change < 0 ? `Sales are down by ${-change} %.` : `Sales are up by ${change} %.`;
}

module.exports = { mail };
