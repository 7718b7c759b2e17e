'use strict';

// Nothing is written, so nothing can be torn: every start is a new one.
class Journal {
  append() {}

  flush() {}

  static read() {
    return [];
  }
}

module.exports = { Journal, NAME: 'journal.jsonl' };
