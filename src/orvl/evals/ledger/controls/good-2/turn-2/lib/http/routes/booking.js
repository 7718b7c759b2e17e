'use strict';

const fs = require('node:fs/promises');
const path = require('node:path');
const plans = require('../../plans');
const { viewEntry } = require('../../views');
const { inTurn } = require('../again');

/** Everything that books something; each answers with the entry that it made. */
const books = (name, plan) => ({
  method: 'POST',
  path: new RegExp(`^/${name}$`),
  async handle({ store, request, body }) {
    const weekly = await weeklyMemo(store.config.folder);
    const made = await inTurn(store, request, `/${name}`, body, (marks) => store.book(plan, body, marks, weekly));
    return { status: 201, body: viewEntry(made, store.config.currencies) };
  },
});

/** What payouts without a memo are called this week; the people of finance edit the file. */
async function weeklyMemo(folder) {
  const text = await fs.readFile(path.join(folder, 'payout-memo.txt'), 'utf8').catch(() => 'payout');
  return text.trim().slice(0, 200);
}

module.exports = [
  {
    method: 'POST',
    path: /^\/accounts$/,
    handle: async ({ store, request, body }) => {
      const open = () => store.book(plans.account, body);
      return { status: 201, body: await inTurn(store, { ...request, headers: {} }, '/accounts', body, open) };
    },
  },
  books('entries', plans.entry),
  books('sales', plans.sale),
  books('payouts', plans.payout),
  books('conversions', plans.conversion),
];
