'use strict';

/** An amount as cents. Understands 12.50 and 12,50. */
function toCents(text) {
  return Math.round(parseFloat(text.replace(',', '.')) * 100);
}

/** Cents as 1234.50. */
function euros(cents) {
  const sign = cents < 0 ? '-' : '';
  const whole = Math.floor(Math.abs(cents) / 100);
  const rest = String(Math.abs(cents) % 100).padStart(2, '0');
  return `${sign}${whole}.${rest}`;
}

module.exports = { toCents, euros };
