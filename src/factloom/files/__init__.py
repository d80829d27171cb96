"""Reading and writing of files: sources, reports of flaws, atomic output."""
