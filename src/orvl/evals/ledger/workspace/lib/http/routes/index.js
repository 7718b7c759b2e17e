'use strict';

const routes = [
  ...require('./health'),
  ...require('./accounts'),
  ...require('./entries'),
  ...require('./sales'),
  ...require('./reports'),
];

module.exports = { routes };
