"""Perturbed submissions on their way to a server, each exactly once: jobs, the outbox, the network."""
