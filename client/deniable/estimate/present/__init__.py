"""What people and programs read: a table becomes text, HTML, CSV, a frame or a picture. Nothing here knows what is in it."""
