/**
 * Automatic links in a survey's texts: mail addresses, phone numbers and pages. Nothing else becomes markup. Twin: `linked` in
 * `web/autolinks.py`.
 */

const ADDRESS = /(https:\/\/[^\s<>"]*[^\s<>".,;:!?)])|([\w.+-]+@[\w-]+(?:\.[\w-]+)+)|(\+[0-9][0-9 ()/-]{5,}[0-9])/g;

/** Turns the addresses in a text-only element into links. */
export function linkUp(element) {
  const text = element.textContent;
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    parts.push(text.slice(from, match.index), link(match));
    from = match.index + match[0].length;
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
