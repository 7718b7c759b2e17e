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

  --plan FILE        the plan (default: $COFFER_PLAN, else coffer.ini)
  --catalogue FILE   the catalogue (default: what the plan says)
  --now TIME         as if it were then
`;

const COMMANDS = {
  check: `coffer check [JOB...]: is every job's newest backup there and in time?

  --quiet            print only what is not ok
  --strict           a shrunk backup counts as well
  --verbose          print vaults as well
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  all is well
  1  a job is late or missing
  2  called wrongly
`,
  list: `coffer list [JOB...]: backups, newest first

  --after TIME       only those that are newer
  --last N           only the newest N
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  always, if called rightly
  2  called wrongly
`,
  sizes: `coffer sizes [JOB...]: what the backups take

  --by job|vault|kind   what is added up (default: job)
  --exact            bytes instead of rounded numbers
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  fine
  1  there are no backups
  2  called wrongly, or a file cannot be read
`,
  prune: `coffer prune [JOB...]: folders that can be deleted, the oldest first

  --keep N           keep N of each job, whatever the plan says
  --dry-run          delete nothing (default)
  --plan FILE        the plan
  --catalogue FILE   the catalogue
  --now TIME         as if it were then
  --help             this text

Exit status:
  0  nothing can be deleted
  1  something can be deleted
  2  called wrongly, or a file cannot be read
`,
  gaps: `coffer gaps [JOB...]: times without a backup

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
