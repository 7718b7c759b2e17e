'use strict';

// Sales as versions before 3.5 worked them out (decision 11). This is how old journals are read, and nothing else may use it: do not improve it.

/** The lines of a sale that was kept without them, in cents. */
function linesOfOldSale({ gross, date, sellers }, fees, cents) {
  const sold = cents(gross);
  const rule = [...fees].sort((a, b) => (a.from < b.from ? -1 : 1)).filter(({ from }) => from <= date).pop();
  const { percent, fixed } = rule || { percent: '0', fixed: '0' };
  const wanted = BigInt(Math.round((Number(sold) * Number(percent)) / 100)) + cents(fixed);
  const fee = wanted > sold ? sold : wanted;
  const total = sellers.reduce((sum, [, share]) => sum + share, 0);
  const parts = sellers.map(([, share]) => BigInt(Math.round((Number(sold - fee) * share) / total)));
  parts[0] += sold - fee - parts.reduce((a, b) => a + b, 0n);
  return [['cash', sold], ['revenue:fees', -fee], ...sellers.map(([account], at) => [account, -parts[at]])].filter(
    ([, amount]) => amount !== 0n,
  );
}

module.exports = { linesOfOldSale };
