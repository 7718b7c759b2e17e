'use strict';

function overview(commands) {
  const rows = Object.entries(commands).map(([name, command]) => `  ${name.padEnd(10)} ${command.summary}`);
  return ['tally COMMAND [options]', '', ...rows, '', 'tally COMMAND --help says more.'].join('\n');
}

function helpOf(name, command) {
  const options = Object.entries({ ...command.options, data: 'text', config: 'text' });
  const shown = options.map(([option, kind]) => `  --${option}${kind === 'flag' ? '' : ` ${option.toUpperCase()}`}`);
  return [`tally ${name} ${command.usage || ''}`.trim(), '', command.summary, '', ...shown].join('\n');
}

module.exports = { overview, helpOf };
