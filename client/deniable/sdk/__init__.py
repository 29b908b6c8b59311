"""SDK: the Python client that submits answers to a server and reads a survey's results."""
