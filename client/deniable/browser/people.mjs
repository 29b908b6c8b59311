/** Icon array of up to 100 people, ten by ten. The text beside it has the same content. */

const SIDE = 10;

/** Draws `all` people into a picture. `filled(index)` returns whether one is filled; a number fills the first ones. */
export function drawPeople(svg, all, filled) {
  const isFull = typeof filled === "number" ? (index) => index < filled : filled;
  svg.replaceChildren(...Array.from({ length: all }, (_, index) => dot(index, isFull(index))));
}

function dot(index, full) {
  const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  circle.setAttribute("cx", 6 + 12 * (index % SIDE));
  circle.setAttribute("cy", 6 + 12 * Math.floor(index / SIDE));
  circle.setAttribute("r", 4);
  circle.setAttribute("class", full ? "counted" : "rest");
  return circle;
}
