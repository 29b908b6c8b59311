"""What every page shares: headers, errors, limits, languages, and the files that pages load."""
