"""Storage in the SQL that all databases share; database-specific code is in the folder of each database."""
