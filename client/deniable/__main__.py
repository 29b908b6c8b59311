"""`python -m deniable`."""

from deniable.cli import main

main(prog_name="deniable")
