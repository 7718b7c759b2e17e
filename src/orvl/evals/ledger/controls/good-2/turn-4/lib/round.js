'use strict';

/** An exact number: a BigInt over a power of ten, or over anything. */
class Fraction {
  constructor(over, under = 1n) {
    this.over = over;
    this.under = under;
  }

  static of(text) {
    const [whole, part = ''] = String(text).trim().split('.');
    return new Fraction(BigInt(whole + part), 10n ** BigInt(part.length));
  }

  times(other) {
    return new Fraction(this.over * other.over, this.under * other.under);
  }

  by(other) {
    return new Fraction(this.over * other.under, this.under * other.over);
  }

  /** The one rule by which amounts are rounded: half to even. */
  round() {
    const whole = this.over / this.under;
    const twice = (this.over % this.under) * 2n;
    const isEven = whole % 2n === 0n;
    return twice < this.under || (twice === this.under && isEven) ? whole : whole + 1n;
  }
}

/** An amount in parts; the largest, of equal ones the first, takes what the rounding of all others leaves. */
function divideAmong(amount, shares) {
  const all = new Fraction(BigInt(shares.reduce((sum, share) => sum + share)));
  const largest = shares.reduce((best, share, at) => (share > shares[best] ? at : best), 0);
  const parts = shares.map((share) => new Fraction(amount * BigInt(share)).by(all).round());
  const others = parts.filter((_, at) => at !== largest);
  parts[largest] = others.reduce((left, part) => left - part, amount);
  return parts;
}

module.exports = { Fraction, divideAmong };
