'use strict';

// Mails are made of templates: `Subject: …` in the first line, then the text.
//
//   {{name}}                 a value; one that is missing is a mistake
//   {{total|money}}          through a filter: money (cents), date, upper
//   {{#lines}}…{{/lines}}    once for each item of a list, whose values are known inside
//   {{>footer}}              another template without its subject

const fs = require('node:fs');
const path = require('node:path');
const { Refused } = require('./errors');

const FOLDER = path.join(__dirname, 'templates');
const DEEPEST = 5;
const cache = new Map();

const filters = {
  money: (cents) => `${cents < 0 ? '-' : ''}${Math.floor(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, '0')} EUR`,
  date: (text) => String(text).slice(0, 10).split('-').reverse().join('.'),
  upper: (text) => String(text).toUpperCase(),
};

/** Puts a template in place of the one in the folder, for customers with mails of their own. */
function defineTemplate(name, text) {
  cache.set(name, text);
}

function sourceOf(name) {
  if (!cache.has(name)) {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Refused(`there is no template ${name}`);
    const file = path.join(FOLDER, `${name}.txt`);
    if (!fs.existsSync(file)) throw new Refused(`there is no template ${name}`);
    cache.set(name, fs.readFileSync(file, 'utf8'));
  }
  return cache.get(name);
}

/** The subject and the text of a mail. */
function render(name, values = {}) {
  const { subject, text } = split(sourceOf(name));
  return { subject: fill(subject, values).replace(/\s*[\r\n]+\s*/g, ' '), text: fill(text, values) };
}

function split(source) {
  const match = /^Subject: (.*)\n\n?/.exec(source);
  return match ? { subject: match[1], text: source.slice(match[0].length) } : { subject: '', text: source };
}

function fill(text, values, depth = 0) {
  if (depth > DEEPEST) throw new Refused('templates contain each other');
  return text
    .replace(/\{\{#([\w.]+)\}\}\n?([\s\S]*?)\{\{\/\1\}\}\n?/g, (_, name, inner) => {
      const list = lookup(values, name) ?? [];
      return list.map((item) => fill(inner, { ...values, ...item }, depth)).join('');
    })
    .replace(/\{\{>([\w-]+)\}\}/g, (_, name) => fill(split(sourceOf(name)).text, values, depth + 1).trimEnd())
    .replace(/\{\{([\w.]+)(?:\|(\w+))?\}\}/g, (_, name, filter) => filtered(valueOf(values, name), filter));
}

function valueOf(values, name) {
  const value = lookup(values, name);
  if (value === undefined || value === null) throw new Refused(`${name} is missing`);
  return value;
}

function lookup(values, name) {
  return name.split('.').reduce((inside, part) => (inside && Object.hasOwn(inside, part) ? inside[part] : undefined), values);
}

function filtered(value, filter) {
  if (!filter) return String(value);
  if (!Object.hasOwn(filters, filter)) throw new Refused(`there is no filter ${filter}`);
  return filters[filter](value);
}

module.exports = { render, defineTemplate };
