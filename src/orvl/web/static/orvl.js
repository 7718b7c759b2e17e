// Live numbers on /now. The server sends finished texts; here they are only put in their places, as text.
"use strict";
(() => {
  const set = (node, text) => {
    if (node && node.textContent !== text) node.textContent = text;
  };
  const place = (name) => document.querySelector(`[data-now="${name}"]`);

  const fill = (section, rows) => {
    section.hidden = rows.length === 0;
    const body = section.querySelector("tbody");
    const headings = [...section.querySelectorAll("thead th")].map((node) => node.textContent);
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((texts, number) => {
      const row = body.rows[number] || body.insertRow();
      texts.forEach((text, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = row.appendChild(document.createElement(column ? "td" : "th"));
          cell.dataset.label = headings[column];
          if (!column) cell.className = "words";
          if (!column) cell.scope = "row";
        }
        set(cell, text);
      });
    });
  };

  const stream = new EventSource("/now/events");
  stream.addEventListener("now", (event) => {
    const now = JSON.parse(event.data);
    for (const [name, text] of Object.entries(now.texts)) set(place(name), text);
    for (const [name, rows] of Object.entries(now.tables)) fill(place(name), rows);
    set(place("state"), "● live");
  });
  stream.onerror = () => set(place("state"), "Not live: these numbers stand still until the viewer answers again.");
})();
