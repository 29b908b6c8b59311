/** Cards that fold: a link to one opens it, a button opens or folds all, and paper gets them open. */

const cards = () => [...document.querySelectorAll(".question > details:first-child")];

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const card = target?.closest("details");
  if (card) card.open = true;
}

addEventListener("hashchange", openTarget);
document.addEventListener("click", ({ target }) => {
  if (target.closest("a[href^='#']")) setTimeout(openTarget);
});
openTarget();

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll(".question details, .folds > details")].filter((one) => !one.open);
  for (const card of folded) card.open = true;
});
addEventListener("afterprint", () => {
  for (const card of folded) card.open = false;
});

/** The button that opens or folds all, which says what it would do. */
function begin() {
  const button = document.querySelector("[data-unfolds]");
  if (!button) return;
  const name = () => { button.textContent = cards().every((card) => card.open) ? button.dataset.folds : button.dataset.unfolds; };
  button.onclick = () => {
    const open = !cards().every((card) => card.open);
    for (const card of cards()) card.open = open;
    name();
  };
  for (const card of cards()) card.addEventListener("toggle", name);
  name();
  button.hidden = false;
}

document.addEventListener("renewed", begin);
begin();
