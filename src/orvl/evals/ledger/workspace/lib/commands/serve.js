'use strict';

const { UsageError } = require('../errors');
const { createServer } = require('../http/server');
const { Store } = require('../store');

module.exports = {
  summary: 'answers HTTP requests on 127.0.0.1',
  usage: '--port PORT',
  options: { port: 'text' },
  async run(args, { data, config }) {
    const port = Number(args.port || process.env.PORT || 4010);
    if (!Number.isInteger(port) || port < 1 || port > 65535) throw new UsageError(`${args.port} is not a port`);
    const store = Store.open(data, config);
    const server = createServer(store);
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    console.log(`tally: pid ${process.pid}, http://127.0.0.1:${port}, ${store.books.entries.length} entries`);
    await new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
    });
    store.close();
    server.closeAllConnections();
    server.close();
    return 0;
  },
};
