"""From a tally, or from reports, to the moments of the true answers: what the coins are inverted with, and what may be asked of them."""
