'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { UserError } = require('./errors');

function readFile(folder, name) {
  try {
    return fs.readFileSync(path.join(folder, name), 'utf8');
  } catch (error) {
    throw new UserError(`cannot read ${path.join(folder, name)}`);
  }
}

/** The files of a folder whose names begin so, in the order of their names. */
function filesNamed(folder, start) {
  let names;
  try {
    names = fs.readdirSync(folder);
  } catch (error) {
    throw new UserError(`${folder} is no folder`);
  }
  return names.filter((name) => name.startsWith(start) && name.endsWith('.csv')).sort();
}

function readShop(folder) {
  return JSON.parse(readFile(folder, 'shop.json'));
}

module.exports = { readFile, filesNamed, readShop };
