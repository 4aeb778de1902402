# SPDX-License-Identifier: Apache-2.0
"""Networks of drawn configurations, computed and saved by PyTorch, against sonde.separate.Model."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional

import sonde

NORMS = ["InstanceNorm", "BatchNorm", "GroupNorm", "none"]
ACTIVATIONS = ["gelu", "relu", "elu"]
COUNT = 24  # each norm with each activation, twice
#: How PyTorch saves the parameters: what is around them, what is in front of each name, and its format before 1.6.
SAVED = list(itertools.product([None, "state_dict", "model_state_dict"], ["", "module.", "model."], [True, False]))


def draw(number):
    """A configuration that makes a network, by its number only."""
    random = np.random.default_rng(number)

    def one_of(*values):
        return values[random.integers(len(values))]

    scales, time, frequency, bands = one_of(0, 1, 2, 2, 3), one_of(1, 2, 2, 3), one_of(1, 2, 2, 3), one_of(1, 2, 3, 4)
    bottleneck = one_of(1, 2, 3, 4)
    frames, band = time**scales * one_of(2, 3, 5), frequency**scales * int(bottleneck + random.integers(3))
    if number % 5 == 0:  # so many pixels that convolutions are computed in tiles
        frames *= math.ceil(64 / frames)
        band *= math.ceil(80 / band)
    frequencies = bands * band
    n_fft = 2 * int(frequencies - 1 + random.integers(max(2, frequencies // 2))) or 2
    hop = max(1, n_fft // one_of(2, 3, 4))
    while hop * (frames - 1) <= max(19, n_fft // 2):
        frames += time**scales
    channels, growth, groups = one_of(4, 8, 12), one_of(0, 4, 8), one_of(2, 4)
    names = [f"stem{i}" for i in range(one_of(1, 2, 3))]
    return {
        "n_fft": n_fft, "hop": hop, "frequencies": frequencies, "frames": frames, "audio": one_of(1, 2), "bands": bands, "scales": scales,
        "blocks": one_of(1, 2, 3), "channels": channels, "growth": growth, "bottleneck": bottleneck, "scale": (time, frequency),
        "norm": NORMS[number % 4] + (str(groups) if number % 4 == 2 else ""),
        "activation": ACTIVATIONS[number // 4 % 3] + (one_of("0.7", "1", "1.5") if number // 4 % 3 == 2 else ""),
        "names": names, "target": one_of(None, names[-1]), "saved": SAVED[number % len(SAVED)]}


def text_of(c):
    """Its YAML file."""
    target = "null" if c["target"] is None else c["target"]
    return f"""
audio: {{chunk_size: {c["hop"] * (c["frames"] - 1)}, dim_f: {c["frequencies"]}, hop_length: {c["hop"]}, n_fft: {c["n_fft"]},
        num_channels: {c["audio"]}, sample_rate: 44100}}
model: {{act: {c["activation"]}, bottleneck_factor: {c["bottleneck"]}, growth: {c["growth"]}, norm: {c["norm"]},
        num_blocks_per_scale: {c["blocks"]}, num_channels: {c["channels"]}, num_scales: {c["scales"]},
        num_subbands: {c["bands"]}, scale: [{c["scale"][0]}, {c["scale"][1]}]}}
training: {{instruments: [{", ".join(c["names"])}], target_instrument: {target}}}
inference: {{batch_size: 1, num_overlap: 2}}
"""


class Network:
    """TFC-TDF v3 (Kim and Lee 2023), layer after layer as docs/separate-theory.md lists them. Parameters are drawn where a layer first asks
    for them, in float32; all else is float64."""

    def __init__(self, configuration, random):
        self.c, self.random, self.parameters = configuration, random, {}

    def parameter(self, name, shape, mean=0.0, spread=1.0):
        if name not in self.parameters:
            drawn = mean + spread * self.random.uniform(-1, 1, shape)
            self.parameters[name] = torch.tensor(drawn, dtype=torch.float32)
        return self.parameters[name].double()

    def weight(self, name, shape, fan):
        """So large that variances stay near one."""
        return self.parameter(name + ".weight", shape, 0, math.sqrt(3 / fan))

    def active(self, x, name):
        """Act(Norm(x))."""
        word, channels = self.c["norm"], x.shape[1]
        if word != "none":
            weight, bias = self.parameter(name + ".weight", channels, 1, 0.3), self.parameter(name + ".bias", channels, 0, 0.3)
        if word == "InstanceNorm":
            x = functional.instance_norm(x, weight=weight, bias=bias, eps=1e-5)
        elif word == "BatchNorm":
            mean, variance = self.parameter(name + ".running_mean", channels, 0, 0.3), self.parameter(name + ".running_var", channels, 1, 0.5)
            self.parameters[name + ".num_batches_tracked"] = torch.tensor(7)
            x = functional.batch_norm(x, mean, variance, weight, bias, training=False, eps=1e-5)
        elif word.startswith("GroupNorm"):
            x = functional.group_norm(x, int(word[9:]), weight, bias, eps=1e-5)
        return self.activated(x)

    def activated(self, x):
        word = self.c["activation"]
        if word.startswith("elu"):
            return functional.elu(x, float(word[3:]))
        return functional.gelu(x) if word == "gelu" else functional.relu(x)

    def convolution(self, x, channels, kernel, name):
        return functional.conv2d(x, self.weight(name, (channels, x.shape[1], kernel, kernel), kernel**2 * x.shape[1]), padding=kernel // 2)

    def tfc_tdf(self, x, channels, name):
        for block in range(self.c["blocks"]):
            at = f"{name}.blocks.{block}."
            shortcut = self.convolution(x, channels, 1, at + "shortcut")
            x = self.convolution(self.active(x, at + "tfc1.0"), channels, 3, at + "tfc1.2")
            columns = x.shape[-1]
            narrow = columns // self.c["bottleneck"]
            y = functional.linear(self.active(x, at + "tdf.0"), self.weight(at + "tdf.2", (narrow, columns), columns))
            x = x + functional.linear(self.active(y, at + "tdf.3"), self.weight(at + "tdf.5", (columns, narrow), narrow))
            x = self.convolution(self.active(x, at + "tfc2.0"), channels, 3, at + "tfc2.2") + shortcut
        return x

    def layers(self, mix):
        c = self.c
        channels, scale = c["channels"], c["scale"]
        first = self.convolution(mix, channels, 1, "first_conv")
        x, skipped = first.transpose(-1, -2), []
        for i in range(c["scales"]):
            x = self.tfc_tdf(x, channels, f"encoder_blocks.{i}.tfc_tdf")
            skipped.append(x)
            at, more = f"encoder_blocks.{i}.downscale.conv", channels + c["growth"]
            kernel = self.weight(at + ".2", (more, channels, *scale), channels * scale[0] * scale[1])
            x, channels = functional.conv2d(self.active(x, at + ".0"), kernel, stride=scale), more
        x = self.tfc_tdf(x, channels, "bottleneck_block")
        for i in range(c["scales"]):
            at, fewer = f"decoder_blocks.{i}.upscale.conv", channels - c["growth"]
            kernel = self.weight(at + ".2", (channels, fewer, *scale), channels)
            x, channels = functional.conv_transpose2d(self.active(x, at + ".0"), kernel, stride=scale), fewer
            x = self.tfc_tdf(torch.cat([x, skipped.pop()], 1), channels, f"decoder_blocks.{i}.tfc_tdf")
        masked = x.transpose(-1, -2) * first
        stems = 1 if c["target"] else len(c["names"])
        y = self.activated(self.convolution(torch.cat([mix, masked], 1), channels, 1, "final_conv.0"))
        return self.convolution(y, stems * mix.shape[1], 1, "final_conv.2")

    def __call__(self, samples):
        """(batch, audio channels, chunk) to (batch, stems, audio channels, chunk)."""
        c, (batch, audio, chunk) = self.c, samples.shape
        window = torch.hann_window(c["n_fft"], periodic=True, dtype=torch.float64)
        how = {"n_fft": c["n_fft"], "hop_length": c["hop"], "window": window, "center": True}
        spectra = torch.stft(samples.reshape(-1, chunk), **how, pad_mode="reflect", return_complex=True)[:, :c["frequencies"]]
        parts = torch.view_as_real(spectra).permute(0, 3, 1, 2)  # (batch audio, part, frequency, frame)
        y = self.layers(parts.reshape(batch, 2 * audio * c["bands"], -1, c["frames"]))
        y = y.reshape(-1, 2, c["frequencies"], c["frames"]).permute(0, 2, 3, 1).contiguous()
        lines = functional.pad(torch.view_as_complex(y), (0, 0, 0, c["n_fft"] // 2 + 1 - c["frequencies"]))
        return torch.istft(lines, **how).reshape(batch, -1, audio, chunk)


def save(parameters, path, saved):
    around, prefix, zipped = saved
    state = {prefix + name: value for name, value in parameters.items()}
    torch.save(state if around is None else {around: state, "epoch": 3}, path, _use_new_zipfile_serialization=zipped)


def computed(number, folder):
    """Both outputs, and the methods by which ours was computed."""
    configuration = draw(number)
    random = np.random.default_rng(1000 + number)
    network = Network(configuration, random)
    chunk = configuration["hop"] * (configuration["frames"] - 1)
    samples = (0.3 * random.normal(size=(2, configuration["audio"], chunk))).astype(np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(samples).double()).numpy()
    (folder / "model.yaml").write_text(text_of(configuration))
    save(network.parameters, folder / "model.ckpt", configuration["saved"])
    model = sonde.separate.Model(folder / "model.ckpt")
    return model.forward(samples), expected, {layer.method for layer in model.plan}


@pytest.mark.parametrize("number", range(COUNT))
def test_a_drawn_network_is_that_of_pytorch_in_float64(number, tmp_path):
    found, expected, methods = computed(number, tmp_path)
    assert found.shape == expected.shape
    # float32 through up to 50 layers; Winograd's transforms of 4 x 4 tiles lose a little more than a digit.
    tolerance = 1e-5 if "winograd" in methods else 5e-6
    assert np.linalg.norm(found - expected) < tolerance * np.linalg.norm(expected), draw(number)


def test_what_is_drawn_is_everything_that_a_configuration_can_say():
    drawn = [draw(number) for number in range(COUNT)]
    for key, values in {"scales": 4, "bands": 4, "bottleneck": 4, "blocks": 3, "growth": 3, "audio": 2, "target": 4}.items():
        assert len({each[key] for each in drawn}) == values, key
    assert len({(each["norm"].rstrip("24"), each["activation"][:3]) for each in drawn}) == 12
    assert any(each["target"] and len(each["names"]) > 1 for each in drawn)
    assert any(each["n_fft"] // 2 + 1 > each["frequencies"] for each in drawn)
    assert any(each["frequencies"] // each["bands"] % each["bottleneck"] for each in drawn)
