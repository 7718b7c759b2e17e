'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { Store } = require('../store');

module.exports = {
  summary: 'reads the whole journal, and removes the snapshot of an older version',
  options: {},
  async run(_args, { data, config }) {
    const store = await Store.open(data, config);
    fs.rmSync(path.join(data, 'snapshot.json'), { force: true });
    console.log(`${store.books.entries.length} entries, ${store.books.accounts.size} accounts`);
    await store.close();
  },
};
