/** Addresses in a survey's own texts, as links: of people who can be written to or called, and of pages. Nothing else becomes markup. The twin of `linked` in `web/autolinks.py`. */

const FOUND = /(https:\/\/[^\s<>"]*[^\s<>".,;:!?)])|([\w.+-]+@[\w-]+(?:\.[\w-]+)+)|(\+[0-9][0-9 ()/-]{5,}[0-9])/g;

/** Makes links of the addresses in an element that holds text only. */
export function linkUp(element) {
  const text = element.textContent;
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(FOUND)) {
    parts.push(text.slice(from, found.index), link(found));
    from = found.index + found[0].length;
  }
  element.replaceChildren(...parts, text.slice(from));
}

function link([text, page, mail]) {
  const anchor = document.createElement("a");
  anchor.textContent = text;
  anchor.dir = "ltr";
  if (page) Object.assign(anchor, { href: page, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });
  else anchor.href = mail ? `mailto:${mail}` : `tel:${text.replace(/[^+0-9]/g, "")}`;
  return anchor;
}
