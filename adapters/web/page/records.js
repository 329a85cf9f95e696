// Takes a record that somebody drops on the page for records.

const form = document.querySelector("#bring"), file = document.querySelector("#file");

document.addEventListener("dragover", (e) => {
  if (e.dataTransfer.types.includes("Files")) e.preventDefault();
});

document.addEventListener("drop", (e) => {
  if (!e.dataTransfer.files.length) return;
  e.preventDefault();
  file.files = e.dataTransfer.files;
  form.requestSubmit();
});
