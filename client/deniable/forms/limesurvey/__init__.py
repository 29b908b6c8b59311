"""Import of LimeSurvey surveys (.lss), groups (.lsg) and questions (.lsq)."""
