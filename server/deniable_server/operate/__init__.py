"""Operation of a server: its commands, its process, its health, and the release manifest."""
