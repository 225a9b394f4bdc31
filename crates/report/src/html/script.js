// What a page can do beyond being read: other colours, sorting, filtering, copying.
"use strict";

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
for (const table of document.querySelectorAll("table.filterable")) makeFilterable(table);
for (const button of document.querySelectorAll("button.copy")) makeCopying(button);
makeTheme(document.getElementById("theme"));
// Browsers that print a folded part folded are told.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const descends = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descends ? "descending" : "ascending");
      sort(table.tBodies[0], column, head.classList.contains("number"), descends ? -1 : 1);
    });
    head.append(button);
  });
}

function sort(body, column, isNumeric, direction) {
  const value = (row) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    return isNumeric ? Number.parseFloat(cell.dataset.value ?? text) : text;
  };
  const isEmpty = (one) => one === "" || Number.isNaN(one);
  const compare = (one, other) =>
    isNumeric ? one - other : one.localeCompare(other, "en", { numeric: true });
  const rows = [...body.rows].map((row) => [value(row), row]);
  // What was not measured is last, whichever way.
  rows.sort(([one], [other]) =>
    isEmpty(one) || isEmpty(other)
      ? isEmpty(one) - isEmpty(other)
      : direction * compare(one, other));
  body.append(...rows.map(([, row]) => row));
}

function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  const field = document.createElement("input");
  const label = document.createElement("label");
  const count = document.createElement("p");
  const filter = document.createElement("div");
  field.type = "search";
  field.autocomplete = "off";
  label.append("Filter rows", field);
  count.setAttribute("role", "status");
  filter.className = "filter";
  filter.append(label, count);
  table.parentElement.before(filter);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
    });
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${rows.length}`;
  };
  field.addEventListener("input", apply);
  apply();
}

function makeCopying(button) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    // A page from a file may have no clipboard; then the text is selected, to be copied by hand.
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected";
    }
  });
}

function makeTheme(button) {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
}
