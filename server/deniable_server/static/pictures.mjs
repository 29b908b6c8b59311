/**
 * PNG downloads of SVG charts, drawn in the browser at twice their size. Without JavaScript the buttons stay hidden, and the SVG remains.
 */

const SCALE = 2;

async function png(address) {
  const text = await (await fetch(address)).text();
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * picture.naturalWidth;
  canvas.height = SCALE * picture.naturalHeight;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

function prepareButtons() {
  for (const button of document.querySelectorAll("[data-png]")) {
    button.hidden = false;
    button.onclick = async () => {
      const link = document.createElement("a");
      link.href = await png(button.dataset.png);
      link.download = button.dataset.name;
      link.hidden = true;
      document.body.append(link);
      link.click();
      link.remove();
    };
  }
}

document.addEventListener("renewed", prepareButtons);
prepareButtons();
