/** Foldable question cards: a link opens its target, one button folds or unfolds all, and printing unfolds all. */

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
  folded = [...document.querySelectorAll(".question details, .folds > details")].filter((card) => !card.open);
  for (const card of folded) card.open = true;
});
addEventListener("afterprint", () => {
  for (const card of folded) card.open = false;
});

/** Prepares the button that folds or unfolds all cards. */
function prepareButton() {
  const button = document.querySelector("[data-unfolds]");
  if (!button) return;
  const updateText = () => { button.textContent = cards().every((card) => card.open) ? button.dataset.folds : button.dataset.unfolds; };
  button.onclick = () => {
    const open = !cards().every((card) => card.open);
    for (const card of cards()) card.open = open;
    updateText();
  };
  for (const card of cards()) card.addEventListener("toggle", updateText);
  updateText();
  button.hidden = false;
}

document.addEventListener("renewed", prepareButton);
prepareButton();
