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

  /** The one rule by which amounts are rounded: half up. */
  round() {
    const whole = this.over / this.under;
    const rest = this.over % this.under;
    return rest * 2n >= this.under ? whole + 1n : whole;
  }
}

/** An amount in parts; the first takes what the rounding of all others leaves. */
function divideAmong(amount, shares) {
  const all = new Fraction(BigInt(shares.reduce((sum, share) => sum + share)));
  const others = shares.slice(1).map((share) => new Fraction(amount * BigInt(share)).by(all).round());
  return [others.reduce((left, part) => left - part, amount), ...others];
}

module.exports = { Fraction, divideAmong };
