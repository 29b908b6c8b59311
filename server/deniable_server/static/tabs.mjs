/** On a phone the tabs are one line that scrolls: the tab of this page is brought into sight, and an end behind which there are more fades. */

function begin() {
  for (const tabs of document.querySelectorAll("nav.trail")) {
    const here = tabs.querySelector("[aria-current]");
    tabs.onscroll = () => tabs.toggleAttribute("data-scrolled", tabs.scrollLeft > 8);
    if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
  }
}

document.addEventListener("renewed", begin);
begin();
