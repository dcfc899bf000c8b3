// Sorting, filtering, searching, folding and deep links. Without it everything but the list of trials is on the pages.
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

// The list of trials: its data are in trials.js. An address such as trials.html#system=A&verdict=failed is a filter.
const MARKS = { resolved: "✓", failed: "✗", invalid: "!", unscored: "?", none: "–" };
const TOGETHER = 200;

const made = (name, text, attributes = {}) => {
  const item = document.createElement(name);
  item.textContent = text;
  for (const [key, value] of Object.entries(attributes)) {
    item.setAttribute(key, value);
  }
  return item;
};

const words = (trial) => {
  const task = RESULTS.taskByName.get(trial.task);
  const system = RESULTS.systems[trial.system].label;
  const parts = [trial.task, task?.about, system, trial.run, trial.verdict, ...trial.reasons, trial.words];
  return parts.join(" ").toLowerCase();
};

const has = (text, wanted) => wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));

const wantedTrial = (trial, wanted) =>
  (!wanted.track || trial.track === wanted.track) &&
  (!wanted.system || RESULTS.systems[trial.system].label === wanted.system) &&
  (!wanted.verdict || trial.verdict === wanted.verdict) &&
  (!wanted.stage || trial.stage === wanted.stage) &&
  (!wanted.reason || trial.reasons.some((reason) => reason.includes(wanted.reason))) &&
  (!wanted.task || trial.task.includes(wanted.task)) &&
  (!wanted.unmet || trial.unmet.includes(wanted.unmet)) &&
  (!wanted.met || trial.met.includes(wanted.met)) &&
  (!wanted.text || has(words(trial), wanted.text));

const trialRow = (trial) => {
  const row = document.createElement("tr");
  const head = made("th", "", { scope: "row" });
  head.append(made("a", `${trial.task} #${trial.number}${trial.run ? `, ${trial.run}` : ""}`, { href: trial.href }));
  const system = RESULTS.systems[trial.system];
  const who = made("td", "");
  who.append(made("span", "", { class: `swatch s${system.style % 8}`, "aria-hidden": "true" }), system.label);
  const verdict = made("td", "");
  const said = trial.verdict === "none" ? "no verdict" : trial.verdict;
  verdict.append(made("span", `${MARKS[trial.verdict]} ${said}`, { class: `verdict ${trial.verdict}` }));
  row.append(head, who, verdict, made("td", trial.stage), made("td", trial.reasons.join(", ")), made("td", trial.words));
  return row;
};

const listTrials = (form) => {
  RESULTS.taskByName = new Map(RESULTS.tasks.map((task) => [task.name, task]));
  const body = document.querySelector("#trials tbody");
  const more = document.getElementById("more-trials");
  let left = [];
  const show = () => {
    body.append(...left.splice(0, TOGETHER).map(trialRow));
    more.hidden = left.length === 0;
  };
  const search = () => {
    const wanted = Object.fromEntries(new FormData(form));
    left = RESULTS.trials.filter((trial) => wantedTrial(trial, wanted));
    form.querySelector("output").textContent = `${left.length} of ${RESULTS.trials.length} trials`;
    const tasks = wanted.text
      ? RESULTS.tasks.filter((task) => has(`${task.name} ${task.about}`.toLowerCase(), wanted.text)) : [];
    document.getElementById("found-tasks").replaceChildren(...tasks.slice(0, 50).map((task) => {
      const item = made("li", "");
      item.append(made("a", task.name, { href: task.href }), ` ${task.about}`);
      return item;
    }));
    body.replaceChildren();
    show();
    const kept = Object.entries(wanted).filter(([, value]) => value);
    history.replaceState(null, "", kept.length > 0 ? `#${new URLSearchParams(kept)}` : "#");
  };
  const take = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const item of form.elements) {
      if (item.name) {
        item.value = asked.get(item.name) ?? "";
      }
    }
    search();
  };
  more.addEventListener("click", show);
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(search));
  addEventListener("hashchange", take);
  take();
};

// A trial's page shows one of its sections at a time.
const TABS = [...document.querySelectorAll("section.tab")];

const showTab = (shown) => {
  for (const tab of TABS) {
    tab.hidden = tab !== shown;
  }
  for (const link of document.querySelectorAll(".tabs a")) {
    link.removeAttribute("aria-current");
    if (link.hash === `#${shown.id}`) {
      link.setAttribute("aria-current", "true");
    }
  }
};

const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const tab = target?.closest("section.tab") ?? TABS[0];
  if (tab) {
    showTab(tab);
  }
  if (TABS.includes(target)) {
    return;
  }
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

const findSteps = (field) => {
  const steps = [...document.querySelectorAll(`${field.dataset.steps} details.step`)];
  const wanted = field.value.toLowerCase();
  let shown = 0;
  for (const step of steps) {
    step.hidden = Boolean(wanted) && !step.textContent.toLowerCase().includes(wanted);
    shown += step.hidden ? 0 : 1;
  }
  field.closest("p").querySelector("output").textContent = wanted ? `${shown} of ${steps.length} steps` : "";
};

// A served page asks how far the run is. Where the page itself has been written anew it is read again, and what was open
// stays open.
const OPEN = `open:${location.pathname}`;
const COUNTED = { agent: "step", judge: "call", arms: "arm" };

const usd = (value) => value === null ? "unknown cost" : `$${value.toFixed(4)}`;

const standing = (trial) => {
  const unit = COUNTED[trial.phase];
  return unit && trial.done ? `${unit} ${trial.done}${trial.most ? ` of ${trial.most}` : ""}` : "";
};

const workRow = (trial) => {
  const row = document.createElement("tr");
  const head = made("th", "", { scope: "row" });
  head.append(made("a", trial.label, { href: trial.href }));
  const numbers = [usd(trial.usd), trial.tried, (trial.seconds / 60).toFixed(1)];
  row.append(head, made("td", trial.phase ?? "begins"), made("td", standing(trial)),
    ...numbers.map((value) => made("td", value, { class: "number" })));
  return row;
};

const runWords = (run) => {
  const ended = Object.values(run.ended).reduce((sum, number) => sum + number, 0);
  const verdicts = Object.entries(run.ended).map(([verdict, number]) => `${number} ${verdict}`).join(", ");
  const words = `${run.run}: ${ended} of ${run.total} trials done${verdicts ? ` (${verdicts})` : ""}, ` +
    `${run.trials.length} at work, ${usd(run.usd)}`;
  return run.is_lost ? `${words}; its process has ended, and this is how far it was` : words;
};

const showWork = (runs) => {
  const line = document.getElementById("live");
  line.hidden = runs.length === 0;
  const words = runs.map(runWords).join("; ");
  if (line.textContent !== words) {
    line.textContent = words;
  }
  const section = document.getElementById("at-work");
  const trials = runs.flatMap((run) => run.trials);
  if (section) {
    section.hidden = trials.length === 0;
    section.querySelector("tbody").replaceChildren(...trials.map(workRow));
  }
};

const watch = async (place) => {
  const written = async () => {
    const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
    return `${answer.headers.get("Last-Modified")} ${answer.headers.get("Content-Length")}`;
  };
  const known = await written();
  const ask = async () => {
    try {
      showWork(await (await fetch(place, { cache: "no-store" })).json());
      if (await written() !== known) {
        const open = [...document.querySelectorAll("details[open][id]")].map((item) => item.id);
        sessionStorage.setItem(OPEN, JSON.stringify(open));
        location.reload();
        return;
      }
    } catch {
      // The server is gone for now.
    }
    setTimeout(ask, 1000);
  };
  ask();
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
for (const form of document.querySelectorAll("form[data-search]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.href = `${form.dataset.search}#${new URLSearchParams(new FormData(form))}`;
  });
}
if (document.getElementById("trial-filter")) {
  listTrials(document.getElementById("trial-filter"));
}
for (const button of document.querySelectorAll("button[data-open], button[data-close]")) {
  button.addEventListener("click", () => fold(button.dataset.open ?? button.dataset.close, "open" in button.dataset));
}
for (const field of document.querySelectorAll("input[data-steps]")) {
  field.addEventListener("input", () => findSteps(field));
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => {
  for (const tab of TABS) {
    tab.hidden = false;
  }
  fold("main", true);
});
if (document.documentElement.dataset.live) {
  reopen();
  watch(document.documentElement.dataset.live);
}
if (TABS.length > 0) {
  reveal();
} else if (location.hash && !document.querySelector("form[data-filters], #trial-filter")) {
  reveal();
}
