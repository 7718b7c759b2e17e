'use strict';

const { auditExport } = require('../audit');
const { Store } = require('../store');

module.exports = {
  summary: 'prints all entries for the auditors, with a chain of hashes',
  options: {},
  run(_args, { data, config }) {
    process.stdout.write(auditExport(Store.read(data, config).books));
  },
};
