'use strict';

const { UsageError } = require('./errors');

const COMMON = {
  '--json': 'a document for programs: docs/json.md',
  '--plan FILE': 'the plan; else $COFFER_PLAN, else coffer.ini',
  '--catalogue FILE': 'the catalogue; else the one that the plan names',
  '--now TIME': 'as if it were then',
  '--help': 'this text',
};
const WRONG = 'called wrongly, or a file cannot be read';

const COMMANDS = {
  check: {
    does: "is every job's newest backup there and in time?",
    options: {
      '--quiet': 'only what is not ok',
      '--strict': 'count shrunk backups, and tell missing ones apart',
    },
    statuses: {
      0: 'all is well',
      1: 'a job is late or missing; with --strict: late or shrunk',
      2: WRONG,
      3: 'with --strict alone: a job has no backup at all',
    },
  },
  list: {
    does: 'backups, newest first',
    options: {
      '--after TIME': 'only newer ones',
      '--vault NAME': 'only those in this vault',
      '--last N': 'only the newest N of them all',
    },
    statuses: { 0: 'here they are', 1: 'nothing was found', 2: WRONG },
  },
  sizes: {
    does: 'what they take',
    options: { '--by job|vault|kind': 'what is added up', '--exact': 'numbers of KiB' },
    statuses: { 0: 'fine', 2: WRONG },
  },
  prune: {
    does: 'folders that can be deleted',
    options: { '--keep N': 'keep N of each job, whatever the plan says' },
    statuses: { 0: 'fine', 2: WRONG },
  },
  gaps: {
    does: 'times without a backup',
    options: { '--over DURATION': 'longer ones than that, instead of what the plan allows' },
    statuses: { 0: 'none', 1: 'some', 2: WRONG },
  },
};

function column(rows) {
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  return Object.entries(rows).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}

function general() {
  const calls = Object.entries(COMMANDS).map(([name, { does }]) => [`coffer ${name} [JOB...]`, does]);
  const head = ['coffer: are our backups there, and which can go?', '', ...column(Object.fromEntries(calls))];
  return [...head, '', '  coffer --version', '', 'Every command takes:', '', ...column(COMMON), ''].join('\n');
}

function helpFor(command) {
  if (command === undefined) return general();
  if (!Object.hasOwn(COMMANDS, command)) throw new UsageError(`there is no command '${command}'. Try coffer --help.`);
  const { does, options, statuses } = COMMANDS[command];
  const rows = column({ ...options, ...COMMON });
  return [`coffer ${command} [JOB...]: ${does}`, '', ...rows, '', 'Exit status:', ...column(statuses), ''].join('\n');
}

module.exports = { helpFor };
