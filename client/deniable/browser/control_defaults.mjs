/**
 * Default values of controls, kept equal to their current values.
 *
 * Browsers write changed controls to the disk for crash recovery, whatever `autocomplete` says. A control counts as changed if its value
 * differs from its default.
 */

/** Sets the defaults of all controls under `root`. Call it after a program changes answers; people's changes fire events. */
export function syncDefaults(root) {
  for (const input of root.querySelectorAll("input")) {
    if (input.defaultChecked !== input.checked) input.defaultChecked = input.checked;
    if (input.type === "text" && input.defaultValue !== input.value) input.defaultValue = input.value;
  }
  for (const select of root.querySelectorAll("select")) {
    const { selectedIndex } = select;
    for (const option of select.options) if (option.defaultSelected !== option.selected) option.defaultSelected = option.selected;
    if (select.selectedIndex !== selectedIndex) select.selectedIndex = selectedIndex; // an engine may reselect after a default changes
  }
}

// On the window: runs after the control's own listeners.
for (const type of ["input", "change"]) globalThis.addEventListener(type, () => syncDefaults(document));
