'use strict';

/** What a caller did wrong; `status` is what the HTTP API answers. */
class Refused extends Error {
  constructor(message, status = 400) {
    super(message);
    this.name = 'Refused';
    this.status = status;
  }
}

module.exports = { Refused };
