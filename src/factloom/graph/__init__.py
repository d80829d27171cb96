"""From documents to one graph: names of things, merging, the store, exports."""
