'use strict';

const fs = require('node:fs');
const plans = require('../plans');
const { UsageError } = require('../errors');
const { Store } = require('../store');
const { viewEntry } = require('../views');

module.exports = {
  summary: 'books the entry in a JSON file, of the form that POST /entries takes',
  usage: 'FILE',
  options: {},
  async run({ words: [file] }, { data, config }) {
    if (!file) throw new UsageError('post needs a FILE');
    const body = readObject(file);
    const store = Store.open(data, config);
    try {
      console.log(JSON.stringify(viewEntry(await store.book(plans.entry, body), config.currencies)));
    } finally {
      store.close();
    }
  },
};

function readObject(file) {
  try {
    return Object(JSON.parse(fs.readFileSync(file, 'utf8')));
  } catch (error) {
    if (error.code) throw error;
    throw new UsageError(`${file} is not JSON`);
  }
}
