"""How the people came into a survey: groups as clusters or strata, known sizes, known margins; and what that does to the errors."""
