"""Move of a database between SQLite and PostgreSQL, while servers use it."""
