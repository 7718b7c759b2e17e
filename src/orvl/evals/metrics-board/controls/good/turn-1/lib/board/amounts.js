'use strict';

const PLAIN = /^-?\d+(\.\d{1,2})?$/;
const WITH_COMMAS = /^-?\d{1,3}(,\d{3})+(\.\d{1,2})?$/;

/** 1234.50 or 1,234.50 as cents; null for anything else. */
function amountInEuros(text) {
  if (!PLAIN.test(text) && !WITH_COMMAS.test(text)) return null;
  return Math.round(Number(text.replaceAll(',', '')) * 100);
}

/** 1.234,50 as cents; null for anything else. */
function amountWithDecimalComma(text) {
  const swapped = text.replace(/[.,]/g, (sign) => (sign === ',' ? '.' : ','));
  return amountInEuros(swapped);
}

module.exports = { amountInEuros, amountWithDecimalComma };
