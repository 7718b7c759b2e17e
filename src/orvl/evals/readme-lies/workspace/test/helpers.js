'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after } = require('node:test');

const { main } = require('../lib/cli');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'coffer-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let count = 0;

// Writes a plan and a catalogue, and gives a function that calls coffer with them at noon on 10 March 2026.
function site(plan, rows, head = 'time,job,bytes,kind,vault') {
  count += 1;
  const planFile = path.join(folder, `plan-${count}.ini`);
  const catalogue = path.join(folder, `catalogue-${count}.csv`);
  fs.writeFileSync(planFile, plan);
  fs.writeFileSync(catalogue, [head, ...rows, ''].join('\n'));
  return (...args) => main([...args, '--plan', planFile, '--catalogue', catalogue, '--now', '2026-03-10T12:00Z'], {});
}

module.exports = { site };
