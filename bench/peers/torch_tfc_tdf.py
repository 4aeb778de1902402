# SPDX-License-Identifier: Apache-2.0
"""One pass through a TFC-TDF v3 network with PyTorch in float32: torch_tfc_tdf.py FRAMES STEMS THREADS.

The drum networks: 128 channels and 128 more on each of five scales, four sub-bands of 256 frequencies, random weights. From the
network's input to its output, without the Fourier transforms.
"""
import json
import resource
import sys
import time

import torch
from torch import nn

CHANNELS = GROWTH = 128
SCALES, BLOCKS, BOTTLENECK, BAND, INPUTS = 5, 2, 4, 256, 16


def before(channels: int) -> list[nn.Module]:
    return [nn.InstanceNorm2d(channels, affine=True), nn.GELU()]


class Block(nn.Module):
    def __init__(self, inputs: int, channels: int, columns: int) -> None:
        super().__init__()
        narrow = columns // BOTTLENECK
        self.tfc1 = nn.Sequential(*before(inputs), nn.Conv2d(inputs, channels, 3, 1, 1, bias=False))
        self.tdf = nn.Sequential(*before(channels), nn.Linear(columns, narrow, bias=False), *before(channels), nn.Linear(narrow, columns, bias=False))
        self.tfc2 = nn.Sequential(*before(channels), nn.Conv2d(channels, channels, 3, 1, 1, bias=False))
        self.shortcut = nn.Conv2d(inputs, channels, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = self.shortcut(x)
        x = self.tfc1(x)
        x = x + self.tdf(x)
        return self.tfc2(x) + shortcut


def tfc_tdf(inputs: int, channels: int, columns: int) -> nn.Module:
    return nn.Sequential(Block(inputs, channels, columns), *(Block(channels, channels, columns) for _ in range(BLOCKS - 1)))


class Network(nn.Module):
    def __init__(self, stems: int) -> None:
        super().__init__()
        channels, columns = CHANNELS, BAND
        self.first = nn.Conv2d(INPUTS, channels, 1, bias=False)
        self.encoders, self.downs, self.ups, self.decoders = (nn.ModuleList() for _ in range(4))
        for _ in range(SCALES):
            self.encoders.append(tfc_tdf(channels, channels, columns))
            self.downs.append(nn.Sequential(*before(channels), nn.Conv2d(channels, channels + GROWTH, 2, 2, bias=False)))
            channels, columns = channels + GROWTH, columns // 2
        self.bottleneck = tfc_tdf(channels, channels, columns)
        for _ in range(SCALES):
            self.ups.append(nn.Sequential(*before(channels), nn.ConvTranspose2d(channels, channels - GROWTH, 2, 2, bias=False)))
            channels, columns = channels - GROWTH, columns * 2
            self.decoders.append(tfc_tdf(2 * channels, channels, columns))
        self.final = nn.Sequential(nn.Conv2d(channels + INPUTS, channels, 1, bias=False), nn.GELU(), nn.Conv2d(channels, stems * INPUTS, 1, bias=False))

    def forward(self, mix: torch.Tensor) -> torch.Tensor:
        first = self.first(mix)
        x, skips = first.transpose(-1, -2), []
        for encoder, down in zip(self.encoders, self.downs):
            x = encoder(x)
            skips.append(x)
            x = down(x)
        x = self.bottleneck(x)
        for up, decoder in zip(self.ups, self.decoders):
            x = decoder(torch.cat([up(x), skips.pop()], 1))
        return self.final(torch.cat([mix, x.transpose(-1, -2) * first], 1))


def main() -> None:
    frames, stems, threads = map(int, sys.argv[1:4])
    torch.set_num_threads(threads)
    with torch.no_grad():
        network, mix = Network(stems).eval(), torch.randn(1, INPUTS, BAND, frames)
        network(mix)  # the first pass allocates
        start = time.perf_counter()
        network(mix)
        seconds = time.perf_counter() - start
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_rss_bytes": peak, "threads": torch.get_num_threads()}))


main()
