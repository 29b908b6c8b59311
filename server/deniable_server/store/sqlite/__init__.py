"""Storage on SQLite, in one file."""
