'use strict';

const css = require('./css');

/** An element as text; whatever is not made by this is escaped. */
class Markup {
  constructor(text) {
    this.text = text;
  }
}

const safe = (one) => (one instanceof Markup ? one.text : String(one).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`));

function h(tag, attributes, ...children) {
  const given = Object.entries(attributes).map(([name, value]) => (value === true ? ` ${name}` : ` ${name}="${safe(value)}"`));
  return new Markup(`<${tag}${given.join('')}>${children.flat().map(safe).join('')}</${tag}>`);
}

const MONEY = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const money = (cents) => MONEY.format(cents / 100).replace('-', '\u2212');
const percent = (value) => (value === undefined ? '\u2014' : `${value.toFixed(1)} %`);

const COLUMNS = [
  ['Orders', (sum) => sum.orders, (sum) => sum.orders],
  ['Sales (€)', (sum) => money(sum.sales), (sum) => (sum.sales / 100).toFixed(2)],
  ['Refunds (€)', (sum) => money(sum.refunds), (sum) => (sum.refunds / 100).toFixed(2)],
  ['Net (€)', (sum) => money(sum.net), (sum) => (sum.net / 100).toFixed(2)],
  ['Visits', (sum) => sum.visits, (sum) => sum.visits],
  ['Conversion', (sum) => percent(sum.conversion), (sum) => sum.conversion?.toFixed(1) ?? ''],
];

function table(days) {
  const line = (name, sum) => h('tr', {}, h('th', { scope: 'row' }, name), COLUMNS.map(([, show]) => h('td', {}, show(sum))));
  return h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ['Day', ...COLUMNS.map(([name]) => name)].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, days.week.map((day) => line(`${day.weekday} ${day.date}`, day.sum))),
    h('tfoot', {}, line('Total', days.total)),
  );
}

/** Bars in a field that is 100 high, between the lowest and the highest of what must be in it. */
function chart(id, title, days, pick, goal) {
  const values = days.week.map((day) => pick(day.sum));
  const ends = [0, ...values, ...(goal === undefined ? [] : [goal])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const y = (value) => (high > low ? 10 + (100 * (high - value)) / (high - low) : 110);
  const bars = values.map((value, at) => {
    const place = { x: 4 + 20 * at, width: 14, y: Math.min(y(value), y(0)), height: Math.abs(y(value) - y(0)) };
    return h('rect', { class: 'bar', ...place });
  });
  return h(
    'svg',
    { role: 'img', 'aria-labelledby': `${id}-title`, viewBox: '0 0 142 132' },
    h('title', { id: `${id}-title` }, `${title}, Monday to Sunday`),
    h('rect', { class: 'field', x: 0, y: 0, width: 142, height: 132 }),
    bars,
    h('line', { class: 'axis', x1: 0, x2: 142, y1: y(0), y2: y(0) }),
    goal === undefined ? [] : h('line', { class: 'goal', x1: 0, x2: 142, y1: y(goal), y2: y(goal) }),
    days.week.map((day, at) => h('text', { x: 11 + 20 * at, y: 129 }, day.weekday)),
  );
}

function csv(days) {
  const lines = days.week.map((day) => [day.date, ...COLUMNS.map(([, , plain]) => plain(day.sum))]);
  return [['day', 'orders', 'sales', 'refunds', 'net', 'visits', 'conversion'], ...lines].map((line) => line.join(',')).join('\r\n');
}

function render({ shop, week, goal, days, name }) {
  const title = `${shop.name}: week ${Number(week.slice(-2))} of ${week.slice(0, 4)}`;
  const body = [
    h('nav', {}, h('a', { href: '#net' }, 'Net'), ' · ', h('a', { href: '#visits' }, 'Visits'), ' · ', h('a', { href: '#numbers' }, 'Numbers')),
    h('h1', {}, title),
    h('figure', { id: 'net' }, chart('n', 'Net in euros', days, (sum) => sum.net, goal), h('figcaption', {}, `Net. Line: ${money(goal)} €`)),
    h('figure', { id: 'visits' }, chart('v', 'Visits', days, (sum) => sum.visits), h('figcaption', {}, 'Visits')),
    h('div', { id: 'numbers' }, table(days)),
    h('p', { class: 'get' }, h('a', { href: `./${name}`, download: true }, 'CSV')),
  ];
  const head = ['<meta charset="utf-8">', '<meta name="viewport" content="width=device-width">', h('title', {}, title).text, css.links];
  const page = `<!DOCTYPE html>\n<html lang="en"><head>${head.join('\n')}</head>\n<body>${body.map(safe).join('\n')}</body></html>\n`;
  return new Map([['index.html', page], [name, `${csv(days)}\r\n`], ...css.files]);
}

module.exports = { render };
