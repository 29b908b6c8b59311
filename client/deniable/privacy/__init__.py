"""What answers give away: in one survey, in several, in the shuffled reports of many, and in an account of each person."""
