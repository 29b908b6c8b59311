"""The store on SQLite, in one file."""
