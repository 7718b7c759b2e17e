'use strict';

const { Store } = require('../store');

module.exports = {
  summary: 'throws the snapshot away and reads the whole journal again',
  options: {},
  run(_args, { data, config }) {
    const store = Store.rebuild(data, config);
    console.log(`${store.books.entries.length} entries, ${store.books.accounts.size} accounts`);
  },
};
