'use strict';

/** What a user did wrong: printed as one sentence, without a stack. */
class UserError extends Error {}

function main(program, run) {
  try {
    process.stdout.write(run(process.argv.slice(2)));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exitCode = 2;
  }
}

module.exports = { UserError, main };
