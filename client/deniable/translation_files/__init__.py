"""Files for translators: a survey's texts as a table that a translator fills in, and the import of the filled table."""
