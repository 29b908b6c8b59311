"""The pages of respondents: the survey, the form for two coins, withdrawal, and what there is to know."""
