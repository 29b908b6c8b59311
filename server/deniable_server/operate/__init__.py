"""For whoever runs a server: its commands, its process, its health, and what a release is compared with."""
