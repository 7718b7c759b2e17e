'use strict';

const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/** A text such as "0.3332" as an exact fraction: 3332 / 10000. */
function decimal(text) {
  const match = DECIMAL.exec(String(text).trim());
  if (!match) throw new Error(`${JSON.stringify(text)} is not a number such as "1.25"`);
  const [, whole, part = ''] = match;
  return { numerator: BigInt(whole + part), denominator: tenTo(part.length) };
}

const tenTo = (count) => 10n ** BigInt(count);

module.exports = { decimal, tenTo };
