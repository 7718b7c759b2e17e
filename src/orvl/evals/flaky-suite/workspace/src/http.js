'use strict';

const http = require('node:http');
const { Refused } = require('./errors');

const MOST_BODY = 256 * 1024;

/** The HTTP API: docs/api.md. */
function createServer(service, log = () => {}) {
  return http.createServer(async (request, response) => {
    try {
      const { status, body } = await route(service, request);
      answer(response, status, body);
    } catch (error) {
      if (!(error instanceof Refused)) log('error', { reason: error.stack });
      answer(response, error instanceof Refused ? error.status : 500, { error: error.message });
    }
  });
}

const ROUTES = [
  ['GET', /^\/health$/, () => ({ status: 200, body: { ok: true } })],
  ['POST', /^\/mails$/, async (service, { body }) => {
    const { mail, isNew } = await service.addMail(body);
    return { status: isNew ? 201 : 200, body: shown(mail) };
  }],
  ['GET', /^\/mails$/, (service, { query }) => {
    const mails = service.queue.list(query.get('state') ?? undefined);
    return { status: 200, body: mails.map(shown) };
  }],
  ['GET', /^\/mails\/([\w-]+)$/, (service, { match }) => ({ status: 200, body: shown(service.queue.get(match[1])) })],
  ['DELETE', /^\/mails\/([\w-]+)$/, (service, { match }) => {
    service.queue.cancel(match[1]);
    return { status: 204 };
  }],
  ['POST', /^\/lines$/, async (service, { body }) => ({ status: 201, body: { due: iso(await service.addLine(body)) } })],
  ['POST', /^\/suppressed$/, async (service, { body }) => {
    await service.suppressed.add(body.to, body.reason);
    return { status: 204 };
  }],
  ['POST', /^\/flush$/, async (service) => ({ status: 200, body: await service.flush() })],
  ['GET', /^\/stats$/, (service) => ({ status: 200, body: service.stats() })],
];

async function route(service, request) {
  const url = new URL(request.url, 'http://localhost');
  const body = await bodyOf(request);
  let isPath = false;
  for (const [method, pattern, act] of ROUTES) {
    const match = pattern.exec(url.pathname);
    isPath ||= Boolean(match);
    if (match && method === request.method) return act(service, { match, body, query: url.searchParams });
  }
  throw isPath ? new Refused('this cannot be done here', 405) : new Refused('there is nothing here', 404);
}

async function bodyOf(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BODY) throw new Refused('too long', 413);
    chunks.push(chunk);
  }
  if (!size) return {};
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (body && typeof body === 'object' && !Array.isArray(body)) return body;
  } catch {
    // it is no JSON
  }
  throw new Refused('the body is a JSON object');
}

/** A mail as the API shows it. */
function shown({ id, to, template, key, state, due, attempts, reason = null }) {
  return { id, to, template, key, state, due: iso(due), attempts, reason };
}

function iso(at) {
  return new Date(at).toISOString();
}

function answer(response, status, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { 'content-length': Buffer.byteLength(text) };
  if (text) headers['content-type'] = 'application/json';
  response.writeHead(status, headers).end(text);
}

module.exports = { createServer };
