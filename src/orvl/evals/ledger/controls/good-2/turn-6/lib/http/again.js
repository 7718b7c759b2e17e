'use strict';

const { Refused, malformed } = require('../errors');

const NAME = '{{header}}';
const USED = Number('{{refuse}}');

/** One after the other: what books something begins when everything before it has ended. */
class Queue {
  constructor() {
    this.last = Promise.resolve();
  }

  run(work) {
    const result = this.last.then(work);
    this.last = result.catch(() => {});
    return result;
  }
}

const queues = new WeakMap();

/** Answers a request that books something; one that came before gets the answer of then. */
function inTurn(store, { headers }, path, body, work) {
  if (!queues.has(store)) queues.set(store, new Queue());
  return queues.get(store).run(async () => {
    const key = headers[NAME.toLowerCase()];
    if (key === undefined) return work({});
    if (key === '' || key.length > 200) throw malformed(`${NAME} must have 1 to 200 characters`);
    const asked = `${path} ${sorted(body)}`;
    const before = store.answers.get(key);
    if (!before) return work({ request: { key, asked } });
    if (before.asked !== asked) throw new Refused(USED, `${NAME} ${key} is of another request`);
    return before.made;
  });
}

/** JSON whose keys are in order, so that it says the same for the same. */
function sorted(value) {
  return JSON.stringify(value, (_key, one) =>
    one && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.keys(one).sort().map((key) => [key, one[key]]))
      : one,
  );
}

/** When all that was begun has ended. */
const settled = (store) => (queues.has(store) ? queues.get(store).last : Promise.resolve());

module.exports = { inTurn, settled, NAME };
