'use strict';

const { escape } = require('./escape');

const WIDTH = 700;
const HEIGHT = 240;
const SLOT = WIDTH / 7;
const BAR = SLOT * 0.7;
const LABELS = 24;

/** Bars of one colour, one for each day, around a zero line. A goal is a line across them. */
function chart({ title, values, texts, days, goal }) {
  const top = Math.max(0, ...values, goal ?? 0);
  const bottom = Math.min(0, ...values);
  const scale = top === bottom ? 0 : HEIGHT / (top - bottom);
  const zero = top * scale;
  const bars = values.map((value, at) => bar(at, value, zero, scale, `${days[at]}: ${texts[at]}`));
  const names = days.map((day, at) => text(at, HEIGHT + LABELS, day.slice(5)));
  return `<svg role="img" aria-label="${escape(title)} by day" viewBox="0 -${LABELS} ${WIDTH} ${HEIGHT + 3 * LABELS}">
${[...bars, line('zero', zero), ...(goal === undefined ? [] : [line('goal', zero - goal * scale)]), ...names].join('\n')}
</svg>`;
}

function bar(at, value, zero, scale, title) {
  const height = Math.abs(value) * scale;
  const y = value > 0 ? zero - height : zero;
  const place = `x="${rounded(at * SLOT + (SLOT - BAR) / 2)}" y="${rounded(y)}"`;
  const size = `width="${rounded(BAR)}" height="${rounded(height)}"`;
  return `<rect class="bar" ${place} ${size}><title>${escape(title)}</title></rect>`;
}

function line(name, y) {
  return `<line class="${name}" x1="0" x2="${WIDTH}" y1="${rounded(y)}" y2="${rounded(y)}"/>`;
}

function text(at, y, content) {
  return `<text x="${rounded((at + 0.5) * SLOT)}" y="${rounded(y)}" text-anchor="middle">${escape(content)}</text>`;
}

function rounded(number) {
  return Number(number.toFixed(3));
}

module.exports = { chart };
