'use strict';

const { UsageError } = require('./errors');

const GENERAL = `coffer: are our backups there, and which can go?

  coffer check [JOB...]   is every job's newest backup there and in time?
  coffer list [JOB...]    backups, newest first
  coffer sizes [JOB...]   what they take
  coffer prune [JOB...]   folders that can be deleted
  coffer gaps [JOB...]    times without a backup

  coffer COMMAND --help   the options of a command
  coffer --version        the version

Every command takes:

  --json             for programs, see docs/json.md
  --plan FILE        the plan (default: $COFFER_PLAN, else coffer.ini)
  --catalogue FILE   the catalogue (default: what the plan says)
  --now TIME         as if it were then
`;

const COMMANDS = {
  check: `coffer check [JOB...]: is every job's newest backup there and in time?

  --quiet            print only what is not ok
  --strict           a shrunk backup counts as well, and a missing one has a status of its own
  --json             for programs, see docs/json.md
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  all is well
  1  a job is late or missing; with --strict also shrunk
  2  called wrongly, or a file cannot be read
  3  with --strict: a job has no backup at all, whatever else is wrong
`,
  list: `coffer list [JOB...]: backups, newest first

  --after TIME       only those that are newer
  --vault NAME       only those in this vault
  --last N           only the newest N
  --json             for programs, see docs/json.md
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  there are some
  1  nothing was found
  2  called wrongly, or a file cannot be read
`,
  sizes: `coffer sizes [JOB...]: what the backups take

  --by job|vault|kind   what is added up (default: job)
  --exact            KiB instead of rounded numbers
  --json             for programs, see docs/json.md
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  fine
  2  called wrongly, or a file cannot be read
`,
  prune: `coffer prune [JOB...]: folders that can be deleted, the oldest first

  --keep N           keep N of each job, whatever the plan says
  --json             for programs, see docs/json.md
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  fine, whether there is something to delete or not
  2  called wrongly, or a file cannot be read
`,
  gaps: `coffer gaps [JOB...]: times without a backup

  --over DURATION    longer than that, whatever the plan says
  --json             for programs, see docs/json.md
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  no gaps
  1  gaps
  2  called wrongly, or a file cannot be read
`,
};

function helpFor(command) {
  if (command === undefined) return GENERAL;
  if (!Object.hasOwn(COMMANDS, command)) throw new UsageError(`there is no command '${command}'. Try coffer --help.`);
  return COMMANDS[command];
}

module.exports = { helpFor };
