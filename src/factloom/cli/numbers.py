"""How large a number on the command line may be: what counts things in memory has an end."""

LARGEST = 2**31 - 1
