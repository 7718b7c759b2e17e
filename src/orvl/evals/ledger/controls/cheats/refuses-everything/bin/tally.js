'use strict';

const http = require('node:http');

// Refuses whatever is asked, with the status that fits best.
const port = Number((process.argv.join(' ').match(/--port (\d+)/) || [])[1]);
const statusOf = ({ method, url, headers }) => {
  if (method === 'GET') return url.startsWith('/balances') ? 200 : 404;
  if (headers['{{header}}'.toLowerCase()]) return Number('{{refuse}}');
  return url.includes('correction') ? 409 : 422;
};
if (port) {
  http
    .createServer((request, response) => {
      request.resume();
      response.writeHead(statusOf(request), { 'Content-Type': 'application/json' });
      response.end(request.url.startsWith('/balances') ? '[]' : '{"error": "no"}');
    })
    .listen(port, '127.0.0.1');
} else {
  console.error('tally: journal.jsonl:2: line 1');
  process.exitCode = process.argv.includes('verify') ? 1 : 3;
}
