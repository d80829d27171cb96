"""`python -m factloom` is the command `factloom`."""

from factloom.cli import main

main()
