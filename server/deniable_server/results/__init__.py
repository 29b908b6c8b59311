"""Results: what pages, API and commands compute from a survey's counted records."""
