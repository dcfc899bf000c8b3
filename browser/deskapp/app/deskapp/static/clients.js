"use strict";

document.getElementById("export").addEventListener("click", () => {
  location.assign("/clients/file");
});
