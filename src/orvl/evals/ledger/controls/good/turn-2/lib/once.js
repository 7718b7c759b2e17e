'use strict';

const { createHash } = require('node:crypto');
const { Refused, malformed } = require('./errors');
const { viewAnswer } = require('./views');

const HEADER = '{{header}}';
const OTHER = Number('{{refuse}}');
const LONGEST = 200;

/**
 * Books what a request asks for, and answers with it; a request with a key that was used already is not carried out, and
 * gets the first answer again. The key is kept with the record that it has booked, so there is never one without the other.
 */
function once(store, request, path, body, post) {
  const key = keyOf(request);
  const asked = digest(path, body);
  const before = key === undefined ? undefined : store.books.keys.get(key);
  if (before && before.asked !== asked) throw new Refused(OTHER, `${HEADER} ${key} was used for something else`);
  const entry = before ? store.books.byId.get(before.id) : post(store.marked(key && { key, asked }), body);
  return { status: 201, body: viewAnswer(store.books, entry) };
}

function keyOf(request) {
  const key = request.headers[HEADER.toLowerCase()];
  if (key !== undefined && (!key || key.length > LONGEST)) throw malformed(`${HEADER} has 1 to ${LONGEST} characters`);
  return key;
}

const digest = (path, body) => createHash('sha256').update(`${path}\n${JSON.stringify(body)}`).digest('hex');

module.exports = { once, HEADER };
