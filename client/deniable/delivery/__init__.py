"""Delivery of perturbed submissions to a server, each exactly once: jobs, the outbox, the network."""
