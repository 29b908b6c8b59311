"""Handling of true answers, from encoding as categories to perturbed bits: the part of the client to audit."""
