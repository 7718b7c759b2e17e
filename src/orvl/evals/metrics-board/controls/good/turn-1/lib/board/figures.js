'use strict';

/** The numbers of each of these days. Amounts are cents. */
function figuresOf(days, { orders, refunds, visits }) {
  const rows = new Map(days.map((day) => [day, { day, orders: 0, sales: 0, refunds: 0, visits: 0 }]));
  const add = (day, name, amount) => {
    const row = rows.get(day);
    if (row) row[name] += amount;
  };
  const latest = byKey(orders, (order) => order.number);
  for (const order of latest.values()) {
    if (order.isCancelled) continue;
    add(order.day, 'orders', 1);
    add(order.day, 'sales', order.cents);
  }
  for (const refund of refunds) {
    const order = latest.get(refund.order);
    if (order && !order.isCancelled && !refund.isFailed) add(order.day, 'refunds', refund.cents);
  }
  for (const hour of byKey(visits, (one) => one.hour).values()) add(hour.day, 'visits', hour.count);
  return [...rows.values()].map(withShares);
}

function totalOf(rows) {
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  return withShares({
    day: 'Total',
    orders: sum('orders'),
    sales: sum('sales'),
    refunds: sum('refunds'),
    visits: sum('visits'),
  });
}

function withShares(row) {
  return {
    ...row,
    net: row.sales - row.refunds,
    conversion: row.visits ? (100 * row.orders) / row.visits : null,
  };
}

/** What was exported last counts. */
function byKey(rows, keyOf) {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

module.exports = { figuresOf, totalOf };
