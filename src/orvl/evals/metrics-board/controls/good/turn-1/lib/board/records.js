'use strict';

/**
 * The records of a CSV text, as lists of fields. Unlike lib/csv.js, which the mail depends on, this knows line breaks
 * and doubled quotes in fields.
 */
function readRecords(text, separator) {
  const records = [];
  let record = [];
  let field = '';
  let isQuoted = false;
  const endField = () => {
    record.push(field);
    field = '';
  };
  const endRecord = () => {
    endField();
    records.push(record);
    record = [];
  };
  for (const [, escaped, sign] of withoutMark(text).matchAll(/("")|(\r\n|[^])/g)) {
    if (escaped) field += isQuoted ? '"' : '';
    else if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted) field += sign;
    else if (sign === separator) endField();
    else if (sign === '\n' || sign === '\r\n') endRecord();
    else field += sign;
  }
  if (field || record.length) endRecord();
  return records.filter((fields) => fields.some((one) => one !== ''));
}

function withoutMark(text) {
  return text.replace(/^\ufeff/, '');
}

module.exports = { readRecords };
