"""A graph that a SPARQL 1.1 endpoint keeps, on this machine or another.

Any server that answers queries and takes updates by the protocol will do; what it must do is in
docs/graph.md. IRIs and plain or typed literals go there and come back, and nothing else.

https://www.w3.org/TR/sparql11-protocol/
"""
