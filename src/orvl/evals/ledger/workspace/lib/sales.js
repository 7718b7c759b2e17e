'use strict';

const money = require('./money');
const { malformed } = require('./errors');
const { split } = require('./split');

const MOST_SELLERS = 50;
const LARGEST_SHARE = 10000;

/** What a sale books: the buyer's money comes in, our fee is taken off, the sellers get the rest by their shares. */
function linesOfSale(sale, fees) {
  const gross = money.parse(sale.gross);
  const fee = fees.on(gross, sale.date);
  const parts = split(
    gross - fee,
    sale.sellers.map(([, share]) => share),
  );
  const lines = [
    { account: 'cash', amount: gross },
    { account: 'revenue:fees', amount: -fee },
    ...sale.sellers.map(([account], index) => ({ account, amount: -parts[index] })),
  ];
  return lines.filter((line) => line.amount !== 0n);
}

/** Checks the form of the sellers of a sale: [["seller:ana", 3], ...] in the journal, objects in the API. */
function sellersOf(rows) {
  if (!Array.isArray(rows) || rows.length < 1 || rows.length > MOST_SELLERS) {
    throw malformed(`sellers must be a list of 1 to ${MOST_SELLERS}`);
  }
  const sellers = rows.map((row) => [row && row.account, row && row.share]);
  for (const [account, share] of sellers) {
    if (typeof account !== 'string') throw malformed('each of sellers needs an account');
    if (!Number.isInteger(share) || share < 1 || share > LARGEST_SHARE) {
      throw malformed(`a share is a whole number from 1 to ${LARGEST_SHARE}`);
    }
  }
  if (new Set(sellers.map(([account]) => account)).size < sellers.length) {
    throw malformed('a seller is there twice');
  }
  return sellers;
}

module.exports = { linesOfSale, sellersOf };
