#!/usr/bin/env node
'use strict';

const { readOptions, loadConfig, UsageError } = require('../src/config');
const { createService } = require('../src/service');

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write('usage: pigeon [--config FILE] [--data FOLDER] [--port NUMBER]\n');
    return;
  }
  const service = await createService(loadConfig(options));
  const port = await service.listen();
  process.stdout.write(`pigeon listens on 127.0.0.1:${port}\n`);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => service.close().then(() => process.exit(0)));
  }
}

main().catch((error) => {
  process.stderr.write(`pigeon: ${error.message}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
});
