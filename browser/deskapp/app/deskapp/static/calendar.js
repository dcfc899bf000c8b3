"use strict";

const list = document.getElementById("appointments");
const written = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

async function load() {
  const { appointments } = await (await fetch("/api/appointments")).json();
  list.replaceChildren(...appointments.map(item));
}

function item({ title, at }) {
  const line = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = at;
  time.textContent = written.format(new Date(at));
  line.append(`${title}: `, time);
  return line;
}

load();
