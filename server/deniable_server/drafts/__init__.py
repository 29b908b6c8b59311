"""Drafts: surveys that are being written, from the first field to publishing."""
