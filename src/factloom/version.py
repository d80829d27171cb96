"""Which factloom this is."""

VERSION = "0.1.0"
