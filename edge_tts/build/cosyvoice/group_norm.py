"""Group normalisation in plain operators.

The stock module exports as InstanceNormalization, which TensorRT 8.5 runs as a plugin that pulls
in cuDNN.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class GroupNorm(nn.Module):
    """Normalise [batch, channels, T] over groups of channels and time (Wu & He 2018).

    Raises ValueError when the channels do not make whole groups.
    """

    def __init__(self, n_groups: int, n_channels: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        if n_channels % n_groups:
            raise ValueError(f"{n_channels} channels do not make {n_groups} groups")
        self.weight = nn.Parameter(torch.empty(n_channels))
        self.bias = nn.Parameter(torch.empty(n_channels))
        self._n_groups, self._epsilon = n_groups, epsilon

    def forward(self, x: Tensor) -> Tensor:
        n_batch, n_channels = x.shape[0], x.shape[1]
        grouped = x.reshape(n_batch, self._n_groups, -1)
        centred = grouped - grouped.mean(dim=2, keepdim=True)
        variance = (centred * centred).mean(dim=2, keepdim=True)
        normed = (centred / torch.sqrt(variance + self._epsilon)).reshape(n_batch, n_channels, -1)
        return normed * self.weight[:, None] + self.bias[:, None]


class FrameGroupNorm(nn.Module):
    """The same of [batch, T, channels], with sums over time first: no transposes.

    Raises ValueError when the channels do not make whole groups.
    """

    def __init__(self, n_groups: int, n_channels: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        if n_channels % n_groups:
            raise ValueError(f"{n_channels} channels do not make {n_groups} groups")
        self.weight = nn.Parameter(torch.empty(n_channels))
        self.bias = nn.Parameter(torch.empty(n_channels))
        self._n_groups, self._epsilon = n_groups, epsilon

    def forward(self, x: Tensor) -> Tensor:
        centred = x - self._mean(x)
        variance = self._mean(centred * centred)
        return centred * (self.weight / torch.sqrt(variance + self._epsilon)) + self.bias

    def _mean(self, x: Tensor) -> Tensor:
        """[batch, 1, channels]: the mean of each channel's group over its channels and time."""
        n_batch, n_channels = x.shape[0], x.shape[2]
        grouped = x.mean(dim=1).reshape(n_batch, self._n_groups, -1)
        means = grouped.mean(dim=2, keepdim=True)
        return means.expand(-1, -1, n_channels // self._n_groups).reshape(n_batch, 1, -1)
