"""What the server keeps: a contract, and the databases that keep it."""
