"""Models without torch: their layers as graphs, run by onnxruntime, beside the weights they have.

`factloom export` (export.py) writes the graphs from the modules of the model, so that there is one
mathematics; they hold no weights, which are read from the model's own file and, for a compressed
model, from the package of its encoder. What is around the layers is the same code with torch and
without (models/joint_extraction.py).
"""
