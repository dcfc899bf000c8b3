"use strict";

const state = document.getElementById("state");
const file = document.getElementById("file");
const WORDS = { running: "The report is being made.", done: "The report is ready.", failed: "There is nothing to report on." };
const LOOK_MS = 300;

function show(report) {
  state.textContent = WORDS[report.state];
  file.hidden = report.state !== "done";
  if (report.state === "done") file.href = `/api/reports/${report.id}/file`;
}

async function follow(report) {
  show(report);
  while (report.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    report = await (await fetch(`/api/reports/${report.id}`)).json();
    show(report);
  }
}

document.getElementById("order").addEventListener("submit", async (event) => {
  event.preventDefault();
  const year = Number(document.getElementById("year").value);
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/api/reports", { method: "POST", headers, body: JSON.stringify({ year }) });
  await follow(await answer.json());
});
