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
const foldOf = (form) => form.closest("details") ?? form.querySelector("details");

async function update(form, field) {
  const address = `${location.pathname}?${new URLSearchParams(new FormData(form))}`;
  const response = await page(address).catch(() => undefined);
  if (!response?.querySelector(FORM)) {
    location.assign(address); // logged out or no reply: load the page, as the button would
    return;
  }
  const focused = document.activeElement === field;
  const open = foldOf(form)?.open;
  document.title = response.title;
  document.querySelector("main").replaceWith(document.adoptNode(response.querySelector("main")));
  history.replaceState(history.state, "", address);
  const renewed = document.querySelector(FORM);
  if (open && foldOf(renewed)) foldOf(renewed).open = true;
  if (focused) renewed.elements[field.name]?.focus();
  document.dispatchEvent(new Event("renewed"));
}

document.addEventListener("change", ({ target }) => {
  if (target.form?.matches(FORM)) update(target.form, target);
});

function hideButtons() {
  for (const button of document.querySelectorAll(`${FORM} button`)) button.hidden = true;
}

document.addEventListener("renewed", hideButtons);
hideButtons();
