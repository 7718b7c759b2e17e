"use strict";

const amount = document.getElementById("amount");
const from = document.getElementById("from");
const to = document.getElementById("to");
const swap = document.getElementById("swap");
const result = document.getElementById("result");
const message = document.getElementById("message");

/** The amount in the other unit; both are of the same kind. */
function convert(value, source, target) {
  const base = value * source.factor + (source.offset ?? 0);
  return (base - (target.offset ?? 0)) / target.factor;
}

/** At most two decimals, and no zeros at the end. */
function rounded(value) {
  return String(Number(value.toFixed(2)));
}

function update() {
  const source = UNITS[from.value];
  const target = UNITS[to.value];
  result.textContent = "";
  message.textContent = "";

  if (source.kind !== target.kind) {
    message.textContent = `Cannot convert ${from.value} to ${to.value}.`;
    return;
  }

  const value = amount.valueAsNumber;
  if (Number.isNaN(value)) {
    return;
  }

  const converted = rounded(convert(value, source, target));
  result.textContent = `${amount.value} ${from.value} = ${converted} ${to.value}`;
}

function exchange() {
  [from.value, to.value] = [to.value, from.value];
  update();
}

for (const field of [amount, from, to]) {
  field.addEventListener("input", update);
}

swap.addEventListener("click", exchange);

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
});

update();
