'use strict';

const { malformed } = require('./errors');

// Amounts are whole cents, as BigInt. Texts are only for people, files and the API.
const AMOUNT = /^(-?)(\d{1,13})(?:\.(\d{1,2}))?$/;

/** "12.3" -> 1230n */
function parse(text) {
  const match = typeof text === 'string' ? AMOUNT.exec(text) : null;
  if (!match) throw malformed(`${JSON.stringify(text)} is not an amount such as "12.30"`);
  const [, sign, whole, part = ''] = match;
  const cents = BigInt(whole) * 100n + BigInt(part.padEnd(2, '0'));
  return sign ? -cents : cents;
}

/** 1230n -> "12.30" */
function format(cents) {
  const sign = cents < 0n ? '-' : '';
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Like parse, but refuses zero and less. */
function parsePositive(text) {
  const cents = parse(text);
  if (cents <= 0n) throw malformed(`${JSON.stringify(text)} is not more than 0`);
  return cents;
}

const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n);

module.exports = { parse, parsePositive, format, sum };
