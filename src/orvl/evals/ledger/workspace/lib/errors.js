'use strict';

/** A mistake of whoever called us; `status` is the HTTP status, and the command line ends with 1. */
class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The data folder cannot be used: the command line ends with `code`. */
class StoreError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

class UsageError extends Error {}

const malformed = (message) => new Refused(400, message);
const unknown = (message) => new Refused(404, message);
const conflict = (message) => new Refused(409, message);
const impossible = (message) => new Refused(422, message);

module.exports = { Refused, StoreError, UsageError, malformed, unknown, conflict, impossible };
