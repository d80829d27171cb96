"""The threshold and the temperature of links, kept with the weights of a model."""

import torch
from torch import Tensor, nn

from factloom.modules.linking import Linking


class LinkScale(nn.Module):
    """What is fitted after training: the threshold of links, the temperature of their scores."""

    threshold: Tensor
    temperature: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("threshold", torch.zeros(()))
        self.register_buffer("temperature", torch.ones(()))

    @property
    def linking(self) -> Linking:
        return Linking(float(self.threshold), float(self.temperature))

    def keep(self, linking: Linking) -> None:
        self.threshold.fill_(linking.threshold)
        self.temperature.fill_(linking.temperature)
