/**
 * Controls that look as if nobody had touched them. Browsers write what people change on a page to the disk, so that it outlives a
 * crash, whatever `autocomplete` says. What they call changed is a control that says something else than it began with; so here
 * each begins with what it says now.
 */

/** Does it for every control under `root`; to be called after answers were changed by a program: people's own changes are heard of. */
export function unchanged(root) {
  for (const input of root.querySelectorAll("input")) {
    if (input.defaultChecked !== input.checked) input.defaultChecked = input.checked;
    if (input.type === "text" && input.defaultValue !== input.value) input.defaultValue = input.value;
  }
  for (const select of root.querySelectorAll("select")) {
    const { selectedIndex } = select;
    for (const option of select.options) if (option.defaultSelected !== option.selected) option.defaultSelected = option.selected;
    if (select.selectedIndex !== selectedIndex) select.selectedIndex = selectedIndex; // an engine may choose anew when a default changes
  }
}

// On the window, so that it comes after whatever a control itself does about the event.
for (const type of ["input", "change"]) globalThis.addEventListener(type, () => unchanged(document));
