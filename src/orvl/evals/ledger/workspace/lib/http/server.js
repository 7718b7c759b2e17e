'use strict';

const http = require('node:http');
const { Refused } = require('../errors');
const { readBody } = require('./body');
const { routes } = require('./routes');

function createServer(store) {
  return http.createServer((request, response) => {
    answer(store, request)
      .catch((error) => failure(error))
      .then(({ status, body }) => send(response, status, body));
  });
}

async function answer(store, request) {
  const url = new URL(request.url, 'http://tally');
  const path = decodeURI(url.pathname);
  let allowed = null;
  for (const route of routes) {
    const match = route.path.exec(path);
    if (!match) continue;
    allowed = route;
    if (route.method !== request.method) continue;
    const body = request.method === 'POST' ? await readBody(request, store.config.settings.bodyLimit) : null;
    return route.handle({ store, body, query: url.searchParams, parameters: match.slice(1), request });
  }
  if (allowed) throw new Refused(405, `${request.method} is not for ${path}`);
  throw new Refused(404, `there is no ${path}`);
}

function failure(error) {
  if (error instanceof Refused) return { status: error.status, body: { error: error.message } };
  if (error instanceof URIError) return { status: 400, body: { error: 'the address cannot be read' } };
  console.error(error.stack);
  return { status: 500, body: { error: 'something went wrong here' } };
}

function send(response, status, body) {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

module.exports = { createServer };
