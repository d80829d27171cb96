"""The addresses of the service: one file for what belongs together."""
