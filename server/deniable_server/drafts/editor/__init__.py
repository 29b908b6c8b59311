"""A survey file as fields that are filled in: the same document, both ways and without loss."""
