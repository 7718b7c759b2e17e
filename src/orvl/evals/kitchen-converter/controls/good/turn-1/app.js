"use strict";

const amount = document.getElementById("amount");
const from = document.getElementById("from");
const to = document.getElementById("to");
const result = document.getElementById("result");

/** The amount in the other unit; both are of the same kind. */
function convert(value, source, target) {
  return (value * source.factor) / target.factor;
}

/** At most two decimals, and no zeros at the end. */
function rounded(value) {
  return String(Number(value.toFixed(2)));
}

function update() {
  const source = UNITS[from.value];
  const target = UNITS[to.value];
  result.textContent = "";

  const value = amount.valueAsNumber;
  if (Number.isNaN(value)) {
    return;
  }

  const converted = rounded(convert(value, source, target));
  result.textContent = `${amount.value} ${from.value} = ${converted} ${to.value}`;
}

for (const field of [amount, from, to]) {
  field.addEventListener("input", update);
}

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
});

update();
