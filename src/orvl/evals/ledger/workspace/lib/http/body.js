'use strict';

const { Refused, malformed } = require('../errors');

/** The JSON object in a request's body. */
async function readBody(request, limit) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > limit) throw new Refused(413, `more than ${limit} bytes`);
    chunks.push(chunk);
  }
  let body;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw malformed('the body must be JSON');
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw malformed('the body must be an object');
  return body;
}

module.exports = { readBody };
