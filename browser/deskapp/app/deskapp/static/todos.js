"use strict";

const list = document.getElementById("todos");
const outage = document.getElementById("outage");

async function load() {
  let todos;
  try {
    const answer = await fetch("/api/todos");
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    todos = (await answer.json()).todos;
  } catch {
    list.replaceChildren();
    outage.hidden = false;
    return;
  }
  outage.hidden = true;
  list.replaceChildren(...todos.map(item));
}

function item(todo) {
  const line = document.createElement("li");
  line.textContent = todo.title;
  line.classList.toggle("done", todo.done);
  return line;
}

document.getElementById("again").addEventListener("click", load);
document.getElementById("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = document.getElementById("title");
  const body = JSON.stringify({ title: field.value });
  await fetch("/api/todos", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  field.value = "";
  await load();
});
load();
