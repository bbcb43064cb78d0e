"""Export the student to ONNX: one streaming graph, every convolution's state explicit.

    python -m edge_tts.build.fast_voice.export RUN OUT.onnx

Opset 17, STFT as Conv and inverse STFT as ConvTranspose, noise and source as inputs, so that
TensorRT 8.5 takes it. Inputs for a window of W frames at 80 Hz:

    x [1, 512, W], f0 [1, W], energy [1, W]   frames `look_ahead` later than the ones produced
    condition [1, 128]                        from the second graph, once per utterance
    source [1, 300 W + n_fft - hop]           centred on the frames produced
    noise [1, 2 K, U]                         standard normal
    state_0 [1, 515, input_kernel - 1]        and
    state_i [1, kernel - 1, channels]         zeros at the start of an utterance

Outputs: audio [1, 300 W + n_fft - hop], to be overlap-added, and next_state_i. The second graph,
OUT_condition.onnx, maps style [1, 256] and pool [1, 1024] to condition.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from edge_tts.build.fast_voice.model import FRAME_SAMPLES, N_INPUTS, Block, Student, StudentConfig
from edge_tts.build.fast_voice.warm_start import read_average

OPSET = 17
EXAMPLE_FRAMES = 24


class StreamingStudent(nn.Module):
    """The student on one window, in operators every backend has."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.student = student
        self.register_buffer("forward_filters", _analysis_filters(student))
        self.register_buffer("inverse_filters", _synthesis_filters(student))

    @property
    def blocks(self) -> List[Block]:
        """All blocks in the order of their states."""
        return [*self.student.frame_blocks, *self.student.sub_blocks]

    def forward(
        self,
        x: Tensor,
        f0: Tensor,
        energy: Tensor,
        condition: Tensor,
        source: Tensor,
        noise: Tensor,
        *states: Tensor,
    ) -> Tuple[Tensor, ...]:
        """See the module's docstring for shapes."""
        student, config = self.student, self.student.config
        padded = torch.cat([states[0], student.inputs(x, f0, energy)], 2)
        next_states = [padded[:, :, -(config.input_kernel - 1) :]]
        h = student.encode(padded)
        for i, (block, state) in enumerate(zip(self.blocks, states[1:])):
            if i == len(config.frame_ahead):
                h = student.upsample(h).reshape(1, -1, config.sub_channels)
            padded = torch.cat([state, h], 1)
            next_states.append(padded[:, -(config.kernel - 1) :])
            h = block.on(padded, _depthwise(block, padded), condition)
        real, imag, noise_gain = (part.transpose(1, 2) for part in student.head(h))
        spectrum = F.conv1d(source[:, None], self.forward_filters, stride=config.hop)
        source_real, source_imag = spectrum.chunk(2, 1)
        noise_real, noise_imag = noise.chunk(2, 1)
        out_real = source_real * real - source_imag * imag + noise_gain * noise_real
        out_imag = source_real * imag + source_imag * real + noise_gain * noise_imag
        mixed = torch.cat([out_real, out_imag], 1)
        audio = F.conv_transpose1d(mixed, self.inverse_filters, stride=config.hop)
        return (audio[:, 0], *next_states)


class Conditioning(nn.Module):
    """The once-per-utterance half."""

    def __init__(self, student: Student) -> None:
        super().__init__()
        self.student = student

    def forward(self, style: Tensor, pool: Tensor) -> Tensor:
        """style [1, 256], pool [1, 1024] → condition [1, 128]."""
        return self.student.conditioning(style, pool)


def _depthwise(block: Block, padded: Tensor) -> Tensor:
    return block.depthwise(padded.transpose(1, 2)).transpose(1, 2)


def _angles(config: StudentConfig) -> np.ndarray:
    return 2 * np.pi * np.outer(np.arange(config.n_bins), np.arange(config.n_fft)) / config.n_fft


def _analysis_filters(student: Student) -> Tensor:
    """Windowed DFT rows, real then imaginary: [2 K, 1, n_fft]."""
    window = student.window.double().numpy()
    angles = _angles(student.config)
    rows = np.concatenate([np.cos(angles) * window, -np.sin(angles) * window])
    return torch.tensor(rows[:, None], dtype=torch.float32)


def _synthesis_filters(student: Student) -> Tensor:
    """Inverse DFT rows with the synthesis window: [2 K, 1, n_fft]."""
    config = student.config
    weight = np.full((config.n_bins, 1), 2.0)
    weight[[0, -1]] = 1.0
    angles = _angles(config)
    rows = np.concatenate([np.cos(angles) * weight, -np.sin(angles) * weight])
    # The imaginary parts of DC and Nyquist do not exist in a real signal.
    rows[[config.n_bins, -1]] = 0.0
    rows *= student.window.double().numpy() / config.n_fft / 1.5
    return torch.tensor(rows[:, None], dtype=torch.float32)


def initial_states(config: StudentConfig) -> List[Tensor]:
    """Zeros for the input convolution and for every block, frame blocks first."""
    channels = [config.frame_channels] * len(config.frame_ahead)
    channels += [config.sub_channels] * len(config.sub_ahead)
    first = torch.zeros(1, N_INPUTS, config.input_kernel - 1)
    return [first, *(torch.zeros(1, config.kernel - 1, c) for c in channels)]


def example_inputs(config: StudentConfig, n_frames: int) -> Tuple[Tensor, ...]:
    """Random inputs of the documented shapes."""
    overlap = config.n_fft - config.hop
    return (
        torch.randn(1, 512, n_frames),
        torch.full((1, n_frames), 180.0),
        torch.randn(1, n_frames),
        torch.randn(1, config.condition),
        torch.randn(1, FRAME_SAMPLES * n_frames + overlap),
        torch.randn(1, 2 * config.n_bins, config.upsampling * n_frames),
        *initial_states(config),
    )


def export(student: Student, out: Path) -> None:
    """Write `out` and, beside it, the conditioning graph."""
    config = student.config
    states = [f"state_{i}" for i in range(len(initial_states(config)))]
    names = ["x", "f0", "energy", "condition", "source", "noise", *states]
    dynamic = {
        "x": {2: "frames"},
        "f0": {1: "frames"},
        "energy": {1: "frames"},
        "source": {1: "source_samples"},
        "noise": {2: "sub_frames"},
        "audio": {1: "audio_samples"},
    }
    torch.onnx.export(
        StreamingStudent(student).eval(),
        example_inputs(config, EXAMPLE_FRAMES),
        str(out),
        opset_version=OPSET,
        input_names=names,
        output_names=["audio", *(f"next_{name}" for name in states)],
        dynamic_axes=dynamic,
        dynamo=False,
    )
    torch.onnx.export(
        Conditioning(student).eval(),
        (torch.randn(1, 256), torch.randn(1, 1024)),
        str(out.with_name(f"{out.stem}_condition.onnx")),
        opset_version=OPSET,
        input_names=["style", "pool"],
        output_names=["condition"],
        dynamo=False,
    )


def load_student(run: Path) -> Student:
    """The averaged student of a run's checkpoint."""
    return read_average(run / "checkpoint.pt").eval()


def main() -> int:
    parser = argparse.ArgumentParser(description="Export the fast voice's generator to ONNX.")
    parser.add_argument("run", type=Path, help="folder of the training run")
    parser.add_argument("out", type=Path, help="ONNX file to write")
    arguments = parser.parse_args()
    export(load_student(arguments.run), arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
