'use strict';

const { euros } = require('../money');

/** The columns of the table and of the download, each with what stands in a cell. A conversion may be unknown. */
const COLUMNS = [
  { name: 'Day', text: (row) => row.day },
  { name: 'Orders', text: (row) => String(row.orders) },
  { name: 'Sales', text: (row) => euros(row.sales) },
  { name: 'Refunds', text: (row) => euros(row.refunds) },
  { name: 'Net', text: (row) => euros(row.net) },
  { name: 'Visits', text: (row) => String(row.visits) },
  { name: 'Conversion', text: (row) => (row.conversion === null ? '' : row.conversion.toFixed(1)) },
];

module.exports = { COLUMNS };
