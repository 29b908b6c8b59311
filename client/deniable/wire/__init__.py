"""What travels and is stored: perturbed records, their submissions and tallies, links and codes. No answer."""
