'use strict';

const audit = require('../audit');
const { Store } = require('../store');

module.exports = {
  summary: 'writes all entries for the auditors',
  options: {},
  run: (_args, { data, config }) => {
    process.stdout.write(audit.write(Store.read(data, config).books));
  },
};
