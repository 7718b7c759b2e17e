'use strict';

/**
 * How many milliseconds to wait before another try, after so many that went wrong. Grows by `factor`, up to `most`; then up
 * to a share of `jitter` comes on top, so that not all mails come back at once.
 */
function retryDelay(failures, { first, factor, most, jitter }, random = Math.random) {
  const plain = Math.min(most, first * factor ** (failures - 1));
  return Math.round(plain * (1 + jitter * random()));
}

/** Whether there is no other try after so many failures. */
function isLastTry(failures, { tries }) {
  return failures >= tries;
}

module.exports = { retryDelay, isLastTry };
