"""One trainer for every model: `settings`, `trainer`, and the parts that they are made of.

Nothing is imported here, so that reading a recipe (`settings`) does not load torch.
"""
