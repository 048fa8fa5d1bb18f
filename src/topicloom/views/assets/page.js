
// Lets the reader filter long tables, and sort every table that has a head: by number where cells carry a value, otherwise by text.
"use strict";
const LONG = 12;
for (const table of document.querySelectorAll("main table")) {
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  if (heads.length && table.tBodies[0].rows.length > LONG) {
    const filter = Object.assign(document.createElement("input"), { type: "search", placeholder: "filter rows" });
    filter.setAttribute("aria-label", "Filter the rows of this table");
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLocaleLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted);
    });
    table.before(filter);
  }
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const sorted = [...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], down ? -1 : 1));
      body.append(...sorted);
    });
  });
}

function compare(a, b, direction) {
  const [x, y] = [a.dataset.value, b.dataset.value];
  if (x === undefined || y === undefined) return direction * a.textContent.localeCompare(b.textContent);
  if (x === "" || y === "") return (x === "") - (y === "");
  return direction * (Number(x) - Number(y));
}
