// Sorting, filtering, folding and deep links. Without it everything is on the page all the same.
"use strict";

const cellValue = (row, index) => {
  const cell = row.cells[index];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number.parseFloat(text);
  return Number.isNaN(number) || !/^[-\d.,$%]/.test(text) ? text.toLowerCase() : number;
};

const compareValues = (one, other) => {
  if (typeof one === "number" && typeof other === "number") {
    return one - other;
  }
  return String(one).localeCompare(String(other), "en", { numeric: true });
};

const sortBy = (header) => {
  const table = header.closest("table");
  const index = [...header.parentNode.cells].indexOf(header);
  const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of header.parentNode.cells) {
    other.removeAttribute("aria-sort");
  }
  header.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => sign * compareValues(cellValue(one, index), cellValue(other, index)));
  table.tBodies[0].append(...rows);
};

const fits = (row, wanted) => {
  if (!row.dataset.text.toLowerCase().includes(wanted.text.toLowerCase())) {
    return false;
  }
  const cells = [...row.cells];
  return ["verdict", "reason"].every((name) => {
    const key = `${name}s`;
    return !wanted[name] || cells.some((cell) => (cell.dataset[key] ?? "").split(" ").some((word) =>
      name === "verdict" ? word === wanted[name] : word.includes(wanted[name])));
  });
};

const filter = (form) => {
  const wanted = Object.fromEntries(new FormData(form));
  const rows = [...document.getElementById(form.dataset.filters).tBodies[0].rows];
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row, wanted);
    shown += row.hidden ? 0 : 1;
  }
  form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  const kept = Object.entries(wanted).filter(([, value]) => value);
  history.replaceState(null, "", kept.length > 0 ? `#${new URLSearchParams(kept)}` : "#");
};

const fill = (form) => {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of asked) {
    if (form.elements.namedItem(name)) {
      form.elements.namedItem(name).value = value;
    }
  }
  filter(form);
};

const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let place = target; place; place = place.parentElement) {
    if (place.tagName === "DETAILS") {
      place.open = true;
    }
  }
  target?.scrollIntoView();
};

const fold = (selector, open) => {
  for (const item of document.querySelectorAll(`${selector} details`)) {
    item.open = open;
  }
};

// A served page asks whether there is something new; what was open before stays open.
const OPEN = `open:${location.pathname}`;
const watch = async (place) => {
  const known = await (await fetch(place, { cache: "no-store" })).text();
  const ask = async () => {
    try {
      if (await (await fetch(place, { cache: "no-store" })).text() !== known) {
        const open = [...document.querySelectorAll("details[open][id]")].map((item) => item.id);
        sessionStorage.setItem(OPEN, JSON.stringify(open));
        location.reload();
        return;
      }
    } catch {
      // The server is gone for now.
    }
    setTimeout(ask, 2000);
  };
  setTimeout(ask, 2000);
};

const reopen = () => {
  for (const id of JSON.parse(sessionStorage.getItem(OPEN) ?? "[]")) {
    document.getElementById(id)?.setAttribute("open", "");
  }
  sessionStorage.removeItem(OPEN);
};

for (const button of document.querySelectorAll("button.sort")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}
for (const form of document.querySelectorAll("form[data-filters]")) {
  form.addEventListener("input", () => filter(form));
  form.addEventListener("submit", (event) => event.preventDefault());
  fill(form);
}
for (const button of document.querySelectorAll("button[data-open], button[data-close]")) {
  button.addEventListener("click", () => fold(button.dataset.open ?? button.dataset.close, "open" in button.dataset));
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => fold("main", true));
if (document.documentElement.dataset.live) {
  reopen();
  watch(document.documentElement.dataset.live);
}
if (location.hash && !document.querySelector("form[data-filters]")) {
  reveal();
}
