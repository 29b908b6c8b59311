/** Scrolling tab bar on phones: shows the current tab, and fades an end with more tabs behind it. */

function prepareTabs() {
  for (const tabs of document.querySelectorAll("nav.trail")) {
    const current = tabs.querySelector("[aria-current]");
    tabs.onscroll = () => tabs.toggleAttribute("data-scrolled", tabs.scrollLeft > 8);
    if (current) tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
  }
}

document.addEventListener("renewed", prepareTabs);
prepareTabs();
