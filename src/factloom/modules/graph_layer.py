"""A layer of the graph network over a cognitive graph.

Ding, Zhou, Chen, Yang, Tang: Cognitive Graph for Multi-Hop Reading Comprehension at Scale, ACL
2019, arXiv 1905.05460, section 3.3. With the nodes' states X (nodes, width), A_ij = 1 for an edge
from i to j, and D the diagonal of the columns' sums:

    X' = sigma(X W2 + sigma((A D^-1)^T sigma(X W1)))

so that a node is told the mean of what its predecessors send; one without any is told nothing.
sigma is GELU, as in the authors' code.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from factloom.modules.pooling import segment_mean


class GraphLayer(nn.Module):
    """New states of all nodes from their own and their predecessors'."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.sent = nn.Linear(width, width, bias=False)  # W1
        self.own = nn.Linear(width, width, bias=False)  # W2

    def forward(self, states: Tensor, edges: Tensor) -> Tensor:
        """(nodes, width), and edges (edges, 2) from node to node, each once -> (nodes, width)."""
        source, target = edges.unbind(1)
        sent = F.gelu(self.sent(states))
        told = segment_mean(sent[source], target, len(states))  # (nodes, width)
        return F.gelu(self.own(states) + F.gelu(told))
