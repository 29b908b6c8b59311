"""Output formats: a table becomes text, HTML, CSV, a frame or a picture, for any content."""
