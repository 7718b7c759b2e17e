'use strict';

// The one place where anything is rounded (docs/money.md). Amounts are whole units of the smallest coin, and positive.

/** numerator / denominator as a whole number: half up. */
function divide(numerator, denominator) {
  return (2n * numerator + denominator) / (2n * denominator);
}

/** Splits an amount by whole-number shares; what is left over or missing goes to the first part. */
function split(amount, shares) {
  const total = BigInt(shares.reduce((a, b) => a + b, 0));
  const parts = shares.map((share) => divide(amount * BigInt(share), total));
  parts[0] += amount - parts.reduce((a, b) => a + b, 0n);
  return parts;
}

module.exports = { divide, split };
