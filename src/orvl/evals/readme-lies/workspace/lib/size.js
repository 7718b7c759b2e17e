'use strict';

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

// For people. Takes bytes.
function showSize(size) {
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${size} KiB` : `${size.toFixed(1)} ${UNITS[unit]}`;
}

module.exports = { showSize };
