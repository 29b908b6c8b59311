"""Wire format: perturbed records, submissions, tallies, links and codes. No answer is in them."""
