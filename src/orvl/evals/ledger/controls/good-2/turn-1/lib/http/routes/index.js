'use strict';

const routes = [
  ...require('./health'),
  ...require('./accounts'),
  ...require('./entries'),
  ...require('./booking'),
  ...require('./reports'),
];

module.exports = { routes };
