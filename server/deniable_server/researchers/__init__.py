"""The pages of researchers: who they are, their surveys, and the results."""
