'use strict';

const SELLER = /\b(seller:[a-z0-9:-]+)\b/i;

/** The account on the other side of a bank row: a seller whom its text names, or what we do not know yet. */
function counterpart(row, books) {
  const match = SELLER.exec(row.text);
  const id = match ? match[1].toLowerCase() : null;
  return id && books.accounts.has(id) ? id : 'suspense';
}

module.exports = { counterpart };
