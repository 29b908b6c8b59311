"""Pictures of a page at its full height, as small PNG files."""

from __future__ import annotations

import base64
import struct
import time
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait


def wait_until_shown(driver: Chrome, step: str) -> None:
    WebDriverWait(driver, 10).until(lambda d: d.find_element(By.ID, step).is_displayed())


def click(driver: Chrome, selector: str) -> None:
    next(element for element in driver.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()).click()


def resize(driver: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def picture(driver: Chrome, file: Path, width: int) -> None:
    """The whole page, at its full height."""
    if "missing" not in file.name:
        driver.execute_script("document.activeElement.blur()")
    resize(driver, width, driver.execute_script("return Math.max(document.body.scrollHeight, 640)"))
    time.sleep(0.2)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    file.write_bytes(small_png(pixels(driver, shot)))
    resize(driver, width, 800)
    print(f"{file}  {file.stat().st_size / 1000:.0f} kB")


def pixels(driver: Chrome, shot: str) -> NDArray[np.uint8]:
    """A picture's red, green and blue, shape (height, width, 3), decoded by the browser that took it."""
    decode = """
        const done = arguments[1], image = new Image();
        image.onload = () => {
            const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
            canvas.drawImage(image, 0, 0);
            const octets = new Uint8Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
            done([image.width, octets.toBase64?.() ?? btoa(Array.from(octets, (o) => String.fromCharCode(o)).join(""))]);
        };
        image.src = "data:image/png;base64," + arguments[0];
    """
    width, octets = driver.execute_async_script(decode, shot)
    return np.frombuffer(base64.b64decode(octets), dtype=np.uint8).reshape(-1, width, 4)[:, :, :3]


def small_png(image: NDArray[np.uint8]) -> bytes:
    """A PNG of at most 256 colours: the most frequent ones, and for the others the nearest of those."""
    height, width, _ = image.shape
    colours, place, counts = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(-counts)[:256]]
    distance = ((colours[:, None].astype(int) - palette) ** 2).sum(axis=2)
    rows = distance.argmin(axis=1)[place].astype(np.uint8).reshape(height, width)
    filtered = np.hstack([np.zeros((height, 1), dtype=np.uint8), rows])  # each row begins with its filter, none
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
