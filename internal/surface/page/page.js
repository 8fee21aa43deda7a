// The two buttons of a question. What they say is sent to the HTTP interface;
// nothing here decides anything.
"use strict";

// A button that appears under the pointer, or in a window that comes to the
// front, must not be pressed by a click that was meant for something else.
const armedAfter = 500;

for (const card of document.querySelectorAll("[data-approval]")) {
  const approve = card.querySelector(".approve");
  const deny = card.querySelector(".deny");
  if (!approve || !deny) continue;
  const status = card.querySelector("[role=status]");
  const word = card.querySelector("[name=word]");
  let timer = 0;
  let sent = false;

  const arm = () => {
    approve.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(() => { approve.disabled = sent || document.hidden; }, armedAfter);
  };
  arm();
  window.addEventListener("focus", arm);
  document.addEventListener("visibilitychange", arm);

  const answer = async (yes) => {
    if (sent) return;
    sent = true;
    approve.disabled = deny.disabled = true;
    status.textContent = "Sending …";
    try {
      const res = await fetch(`${card.dataset.api}/approvals/${encodeURIComponent(card.dataset.approval)}/answer`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ approve: yes, revision: Number(card.dataset.revision), word: word.value }),
      });
      if (res.ok) {
        location.reload(); // what became of it, as the server tells it
        return;
      }
      const problem = await res.json().catch(() => ({}));
      status.textContent = [problem.detail || res.statusText, problem.fix, "Load the page again to see how it stands."].filter(Boolean).join(". ");
    } catch {
      status.textContent = "The server did not answer. Load the page again to see how it stands.";
    }
  };
  approve.addEventListener("click", (e) => { if (e.isTrusted) answer(true); });
  deny.addEventListener("click", () => answer(false));
}
