"use strict";

const MINUTE = 60_000;
const WARNED_AFTER = 25 * MINUTE;
const OUT_AFTER = 30 * MINUTE;
const LOOK_MS = 1000;
const idle = document.getElementById("idle");
let last = Date.now();

function awake() {
  last = Date.now();
  idle.hidden = true;
}

async function look() {
  const quiet = Date.now() - last;
  idle.hidden = quiet < WARNED_AFTER;
  if (quiet < OUT_AFTER) return;
  clearInterval(looking);
  await fetch("/logout", { method: "POST" });
  location.assign("/login");
}

const looking = setInterval(look, LOOK_MS);
document.addEventListener("keydown", awake);
document.getElementById("stay").addEventListener("click", awake);
