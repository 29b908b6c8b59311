"""The shelves on PostgreSQL: several web processes, on several machines, at once."""
