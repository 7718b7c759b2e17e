'use strict';

const { malformed } = require('./errors');

const KINDS = ['asset', 'seller', 'income', 'other'];
const ID = /^[a-z][a-z0-9:-]{0,39}$/;

/** Accounts that every set of books has. */
const BUILT_IN = [
  { id: 'bank', name: 'Bank', kind: 'asset' },
  { id: 'cash', name: 'Money on its way to us', kind: 'asset' },
  { id: 'fx', name: 'Conversions', kind: 'other' },
  { id: 'revenue:fees', name: 'Our fees', kind: 'income' },
  { id: 'suspense', name: 'Not yet known', kind: 'other' },
];

function needAccount({ id, name, kind }) {
  if (typeof id !== 'string' || !ID.test(id)) throw malformed(`id must be like seller:ana, not ${JSON.stringify(id)}`);
  if (typeof name !== 'string' || !name.trim() || name.length > 80) throw malformed('name must have 1 to 80 characters');
  if (!KINDS.includes(kind)) throw malformed(`kind must be one of ${KINDS.join(', ')}`);
  return { id, name, kind };
}

module.exports = { BUILT_IN, KINDS, needAccount };
