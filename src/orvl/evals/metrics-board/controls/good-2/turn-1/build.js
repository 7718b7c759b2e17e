'use strict';

const fs = require('fs');
const path = require('path');
const read = require('./numbers/read');
const { sumUp } = require('./numbers/sums');
const { render } = require('./numbers/render');
const calendar = require('./numbers/calendar');

function stop(status, sentence) {
  console.error(sentence);
  process.exit(status);
}

function options(argv) {
  const found = new Map([['--goal', '{{goal}}']]);
  for (let i = 0; i < argv.length; i += 2) {
    if (!['--data', '--out', '--week', '--goal'].includes(argv[i]) || argv.length === i + 1) stop(2, `cannot use ${argv[i]}`);
    found.set(argv[i], argv[i + 1]);
  }
  for (const name of ['--data', '--out', '--week']) if (!found.has(name)) stop(2, `${name}, please`);
  return found;
}

const given = options(process.argv.slice(2));
const folder = given.get('--data');
const goal = /^\d+(\.\d+)?$/.test(given.get('--goal')) ? Math.round(given.get('--goal') * 100) : stop(2, 'the goal is no amount');
const monday = calendar.monday(given.get('--week')) ?? stop(2, `there is no week ${given.get('--week')}`);
if (!fs.existsSync(folder) || !fs.lstatSync(fs.realpathSync(folder)).isDirectory()) stop(2, `${folder} is no folder`);

let page;
try {
  const shop = JSON.parse(fs.readFileSync(path.join(folder, 'shop.json'), 'utf8'));
  page = render({ shop, week: given.get('--week'), goal, days: sumUp(read.everything(folder, shop.zone), monday), name: '{{download}}' });
} catch (error) {
  stop(1, error.message);
}
fs.mkdirSync(given.get('--out'), { recursive: true });
page.forEach((text, name) => fs.writeFileSync(path.join(given.get('--out'), name), text));
