'use strict';

const { malformed } = require('./errors');

// Amounts are whole units of a currency's smallest coin, as BigInt. Texts are only for people, files and the API.
const AMOUNT = /^(-?)(\d{1,13})(?:\.(\d+))?$/;

/** "12.3" with 2 decimals -> 1230n */
function parse(text, decimals) {
  const match = typeof text === 'string' ? AMOUNT.exec(text) : null;
  if (!match) throw malformed(`${JSON.stringify(text)} is not an amount such as "12.30"`);
  const [, sign, whole, part = ''] = match;
  if (part.length > decimals) throw malformed(`${text} has more than ${decimals} decimals`);
  const units = BigInt(whole + part.padEnd(decimals, '0'));
  return sign ? -units : units;
}

/** 1230n with 2 decimals -> "12.30" */
function format(units, decimals) {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n);

module.exports = { parse, format, sum };
