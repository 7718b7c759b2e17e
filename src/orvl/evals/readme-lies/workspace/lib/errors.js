'use strict';

// The caller's mistake, or a file's: told in one sentence, without a stack.
class UsageError extends Error {}

module.exports = { UsageError };
