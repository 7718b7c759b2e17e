(() => {
  const $ = (id) => document.querySelector(`#${id}`);
  const written = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2, useGrouping: false, signDisplay: "negative" });
  const toBase = (unit, amount) => amount * unit.factor + (unit.offset || 0);
  const fromBase = (unit, amount) => (amount - (unit.offset || 0)) / unit.factor;

  /** What is said, and where. */
  const answer = (amount, from, to) => {
    if (UNITS[from].kind !== UNITS[to].kind) return { message: `Cannot convert ${from} to ${to}.` };
    if (amount.trim() === "") return {};
    const number = fromBase(UNITS[to], toBase(UNITS[from], Number(amount)));
    return { result: `${amount} ${from} = ${written.format(number)} ${to}` };
  };

  const show = () => {
    const { result = "", message = "" } = answer($("amount").value, $("from").value, $("to").value);
    $("result").value = result;
    $("message").textContent = message;
  };

  document.addEventListener("input", show);
  document.addEventListener("click", ({ target }) => {
    if (target.id !== "swap") return;
    const before = $("from").value;
    $("from").value = $("to").value;
    $("to").value = before;
    show();
  });
  show();
})();
