'use strict';

const { parseCsv } = require('./csv');
const { readFile } = require('./files');
const { columns } = require('./table');

function readStock(folder) {
  const articles = new Map();
  for (const row of parseCsv(readFile(folder, 'stock.csv'))) {
    const known = articles.get(row.article);
    if (known) known.stock += Number(row.stock);
    else articles.set(row.article, toArticle(row));
  }
  return [...articles.values()];
}

function toArticle(row) {
  return {
    name: row.article,
    supplier: row.supplier,
    stock: Number(row.stock),
    minimum: Number(row.minimum),
    box: Number(row.box),
  };
}

function boxesOf(article) {
  return Math.ceil((article.minimum - article.stock) / article.box);
}

/** Lowest share of the minimum first. */
function byUrgency(one, other) {
  return one.stock / one.minimum - other.stock / other.minimum || one.name.localeCompare(other.name);
}

function stockList(folder) {
  const short = readStock(folder).filter((article) => article.stock < article.minimum);
  if (!short.length) return 'Nothing has to be ordered.\n';
  const rows = short
    .sort(byUrgency)
    .map((article) => [article.name, `${boxesOf(article)} boxes`, article.supplier, `${article.stock}/${article.minimum}`]);
  return `${columns(rows).join('\n')}\n`;
}

module.exports = { stockList };
