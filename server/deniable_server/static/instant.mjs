/**
 * Controls that take effect at once: replaces the page's content with the server's, keeps the focus and updates the address.
 * Without this script there is a button.
 */

const FORM = "form[data-instant]";
let latest; // the last request

/** Returns the page of an address: a document that runs no script. */
function page(address) {
  latest?.abort();
  return new Promise((resolve, reject) => {
    const request = (latest = new XMLHttpRequest());
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => resolve(request.response);
    request.onerror = reject;
    request.send();
  });
}

/** Returns the fold of the controls. */
const folding = (form) => form.closest("details") ?? form.querySelector("details");

async function show(form, field) {
  const address = `${location.pathname}?${new URLSearchParams(new FormData(form))}`;
  const made = await page(address).catch(() => undefined);
  if (!made?.querySelector(FORM)) {
    location.assign(address); // logged out, or without an answer: as the button would do it
    return;
  }
  const focused = document.activeElement === field;
  const open = folding(form)?.open;
  document.title = made.title;
  document.querySelector("main").replaceWith(document.adoptNode(made.querySelector("main")));
  history.replaceState(history.state, "", address);
  const renewed = document.querySelector(FORM);
  if (open && folding(renewed)) folding(renewed).open = true;
  if (focused) renewed.elements[field.name]?.focus();
  document.dispatchEvent(new Event("renewed"));
}

document.addEventListener("change", ({ target }) => {
  if (target.form?.matches(FORM)) show(target.form, target);
});

function hideButtons() {
  for (const button of document.querySelectorAll(`${FORM} button`)) button.hidden = true;
}

document.addEventListener("renewed", hideButtons);
hideButtons();
