'use strict';

// The runner of the build machines: loads all test files into one process, in an order that it draws. It prints the seed;
// `node ci/run.js --seed 17` gives the same order again. Each file is a suite of its own, so hooks stay in their file.
// Belongs to the platform team, who run the same for all of our services.

const fs = require('node:fs');
const path = require('node:path');
const { describe } = require('node:test');

const FOLDER = path.join(__dirname, '..', 'test');

function seedOf(words) {
  const at = words.indexOf('--seed');
  return at < 0 ? process.pid % 1000 : Number(words[at + 1]);
}

function dice(seed) {
  let state = (seed + 1) * 48271;
  return (sides) => {
    state = (state * 48271) % 2147483647;
    return state % sides;
  };
}

function mixed(list, roll) {
  const rest = [...list];
  const found = [];
  while (rest.length) found.push(...rest.splice(roll(rest.length), 1));
  return found;
}

const seed = seedOf(process.argv);
console.log(`# seed ${seed}`);
const names = fs.readdirSync(FOLDER).filter((name) => name.endsWith('.test.js')).sort();
for (const name of mixed(names, dice(seed))) {
  describe(name, () => {
    require(path.join(FOLDER, name));
  });
}
