/** Buttons that copy the text of an input; without JavaScript they stay hidden, and the text can be selected. */

for (const button of document.querySelectorAll("[data-copies]")) {
  const input = document.getElementById(button.dataset.copies);
  button.hidden = !navigator.clipboard;
  button.onclick = async () => {
    input.select();
    await navigator.clipboard.writeText(input.value);
    button.textContent = "Copied";
  };
}
