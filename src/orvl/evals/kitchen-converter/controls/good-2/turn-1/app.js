(() => {
  const read = () => Object.fromEntries(["amount", "from", "to"].map((id) => [id, document.querySelector(`#${id}`).value]));
  const written = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2, useGrouping: false, signDisplay: "negative" });

  const answer = ({ amount, from, to }) => {
    if (amount.trim() === "") return "";
    const base = Number(amount) * UNITS[from].factor;
    return `${amount} ${from} = ${written.format(base / UNITS[to].factor)} ${to}`;
  };

  const show = () => {
    document.querySelector("#result").value = answer(read());
  };
  document.addEventListener("input", show);
  show();
})();
