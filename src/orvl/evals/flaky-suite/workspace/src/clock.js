'use strict';

// The time, and timers that keep no process alive. Whatever depends on time takes a clock like this one.

const systemClock = {
  now: () => Date.now(),

  /** Calls `what` in so many milliseconds; returns a function that prevents it. */
  after(ms, what) {
    const timer = setTimeout(what, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },

  /** Calls `what` again and again; returns a function that ends it. */
  every(ms, what) {
    const timer = setInterval(what, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

module.exports = { systemClock };
