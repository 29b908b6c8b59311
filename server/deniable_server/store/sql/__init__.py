"""The shelves, in the SQL that every database speaks; what a database does in a way of its own is in its folder."""
