"""Everything that ever holds a true answer: from an answer to a category to perturbed bits. This is what an auditor reads."""
