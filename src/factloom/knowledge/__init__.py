"""Names linked to what is known, over the user's own graph or any other base.

base = open_knowledge("graph")                # a store, tables, or a file
base.candidates("Ada Lovelace")
Pipeline([tagger, coreference, Linker(base)])
"""
