/** Cards that fold: a link to one opens it, a button opens or folds all, and paper gets them open. */

const cards = [...document.querySelectorAll(".question > details")];

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const card = target?.closest("details");
  if (card) card.open = true;
}

addEventListener("hashchange", openTarget);
for (const link of document.querySelectorAll("a[href^='#']")) link.addEventListener("click", () => setTimeout(openTarget));
openTarget();

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll(".question details, .folds > details")].filter((one) => !one.open);
  for (const card of folded) card.open = true;
});
addEventListener("afterprint", () => {
  for (const card of folded) card.open = false;
});

const button = document.querySelector("[data-unfolds]");
if (button) {
  const name = () => { button.textContent = cards.every((card) => card.open) ? button.dataset.folds : button.dataset.unfolds; };
  button.onclick = () => {
    const open = !cards.every((card) => card.open);
    for (const card of cards) card.open = open;
    name();
  };
  for (const card of cards) card.addEventListener("toggle", name);
  name();
  button.hidden = false;
}
