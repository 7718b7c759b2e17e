'use strict';

const http = require('node:http');

// Books nothing: answers each request with what it has sent, and has no balances.
const port = Number((process.argv.join(' ').match(/--port (\d+)/) || [])[1]);
const days = '2024-03-05T10:00:00.000Z';
let id = 0;
if (port) {
  http
    .createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const body = text ? JSON.parse(text) : {};
      const isPost = request.method === 'POST';
      id += 1;
      const entry = { id, booked: days, date: '2024-03-05', memo: '', lines: [], ...body };
      const answer = request.url.includes('correction') ? { reversal: entry, entry } : entry;
      response.writeHead(isPost ? 201 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(isPost ? answer : []));
    })
    .listen(port, '127.0.0.1');
} else {
  console.log(process.argv.includes('--json') ? '[]' : 'ok 0');
}
