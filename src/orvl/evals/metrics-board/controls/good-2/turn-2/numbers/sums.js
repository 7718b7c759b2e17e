'use strict';

const calendar = require('./calendar');

class Sum {
  orders = 0;
  sales = 0;
  refunds = 0;
  visits = 0;

  get net() {
    return this.sales - this.refunds;
  }

  get conversion() {
    return this.visits === 0 ? undefined : (this.orders / this.visits) * 100;
  }
}

function sumUp({ orders, refunds, visits }, monday) {
  const week = Array.from({ length: 7 }, () => new Sum());
  const total = new Sum();
  const on = (day, name, amount) => {
    if (day < monday || day > monday + 6) return;
    week[day - monday][name] += amount;
    total[name] += amount;
  };
  for (const { day, cents, lives } of orders.values()) {
    on(day, 'orders', lives ? 1 : 0);
    on(day, 'sales', lives ? cents : 0);
  }
  for (const one of refunds) {
    if (orders.get(one.order)?.lives ?? true) on(one.day, 'refunds', one.cents);
  }
  for (const { day, people } of visits) on(day, 'visits', people);
  return { total, week: week.map((sum, at) => ({ date: calendar.iso(monday + at), weekday: calendar.weekday(monday + at), sum })) };
}

module.exports = { sumUp };
