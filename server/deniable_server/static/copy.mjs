/** Copy buttons for an input or element. Without JavaScript they stay hidden, and the text can be selected. */

function prepareButtons() {
  for (const button of document.querySelectorAll("[data-copies]")) {
    const source = document.getElementById(button.dataset.copies);
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      source.select?.();
      await navigator.clipboard.writeText(source.value ?? source.textContent.trim().replace(/\s+/g, " "));
      button.textContent = "Copied";
    };
  }
}

document.addEventListener("renewed", prepareButtons);
prepareButtons();
