/** Proposes the browser's time zone for the times of a survey, as long as none is set. */

const zone = document.getElementById("zone");
const isUnset = ["opens_at", "closes_at"].every((id) => !document.getElementById(id)?.value);
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone?.value === "UTC" && isUnset && [...zone.options].some((option) => option.value === own)) zone.value = own;
