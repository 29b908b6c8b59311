"""One count, or one normal estimate, becomes an estimate with limits. Numbers only: nothing here knows a survey or a question."""
