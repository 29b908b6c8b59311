"""Import of Qualtrics surveys (.qsf)."""
