'use strict';

// The one place where anything is rounded (docs/money.md). Amounts are whole units of the smallest coin, and positive.

/** The rule: half to even, and what is left over goes to the largest share, of equal ones the first. */
const HALF_EVEN = {
  isUp: (twice, denominator, quotient) => twice > denominator || (twice === denominator && quotient % 2n === 1n),
  takesRest: (shares) => shares.indexOf(Math.max(...shares)),
};

/** The rule until the auditors came (decision 11), for sales in the journal that are worked out when it is read. */
const HALF_UP = {
  isUp: (twice, denominator) => twice >= denominator,
  takesRest: () => 0,
};

/** numerator / denominator as a whole number. */
function divide(numerator, denominator, rule = HALF_EVEN) {
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  return rule.isUp(twice, denominator, quotient) ? quotient + 1n : quotient;
}

/** Splits an amount by whole-number shares; one part takes what is left over or missing. */
function split(amount, shares, rule = HALF_EVEN) {
  const total = BigInt(shares.reduce((a, b) => a + b, 0));
  const parts = shares.map((share) => divide(amount * BigInt(share), total, rule));
  parts[rule.takesRest(shares)] += amount - parts.reduce((a, b) => a + b, 0n);
  return parts;
}

module.exports = { HALF_EVEN, HALF_UP, divide, split };
