'use strict';

/**
 * Splits cents by whole-number shares: each part is rounded, and what is left over or missing then is
 * added to the first part.
 */
function split(cents, shares) {
  const total = shares.reduce((a, b) => a + b, 0);
  const parts = shares.map((share) => BigInt(Math.round((Number(cents) * share) / total)));
  const rest = cents - parts.reduce((a, b) => a + b, 0n);
  parts[0] += rest;
  return parts;
}

module.exports = { split };
