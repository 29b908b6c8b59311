"""Is it fast? Every figure beside the limit or the other tool that it is compared with, measured in turns in one run."""
