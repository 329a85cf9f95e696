// Reads the secret of an address that makes this browser somebody, takes it out of the
// address bar, and asks before it is used.

const section = document.querySelector("#link");
const [problem, button] = section.children;

/** Sends something about a secret, and returns the answer; null: there is a problem, which it shows. */
async function send(body) {
  let says = "";
  try {
    const reply = await fetch("/link", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (reply.ok) return await reply.json();
    says = await reply.text();
  } catch (e) {
    says = e.message;
  }
  problem.textContent = says;
  return null;
}

async function open() {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", location.pathname);
  section.hidden = false;
  document.querySelector("#linked").hidden = true;
  button.hidden = true;
  problem.textContent = "";
  const found = await send({ secret, look: true });
  if (!found) return;
  button.textContent = found.go;
  button.hidden = false;
  button.focus();
  button.onclick = async () => {
    button.disabled = true;
    const done = await send({ secret });
    button.disabled = false;
    button.hidden = true;
    if (!done) return;
    if (done.name) {
      for (const storage of [sessionStorage, localStorage]) { // as the room's page remembers a seat
        storage.setItem("seat", "name");
        storage.setItem("name", done.name);
      }
    }
    location.replace(done.to);
  };
}

addEventListener("hashchange", open);
open();
