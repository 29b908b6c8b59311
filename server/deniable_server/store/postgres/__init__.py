"""Storage on PostgreSQL, for several web processes on several machines at once."""
