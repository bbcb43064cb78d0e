"""Do our CosyVoice modules, and the graphs exported from them, compute what the official ones do?

    python bench/cosyvoice_parity.py DIR [DIR ...]

Each DIR is a checkpoint in the official layout with `goldens.npz` and `goldens.json` beside it:
outputs of the official modules for given inputs and random numbers. Every stage is run twice, by
torch and by ONNX Runtime at fp32, through the run time's own code. Prints one line per array and
exits 1 if any differs by more than its tolerance. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Iterator, Sequence

import numpy as np
import torch
from cosyvoice_goldens import Goldens, Recorded

from edge_tts.build.cosyvoice import constants
from edge_tts.build.cosyvoice.checkpoint import Checkpoint, read_checkpoint
from edge_tts.build.cosyvoice.parts import parts
from edge_tts.build.torch_voice.export import TorchEngine, export_optimised
from edge_tts.runtime.onnx import OnnxEngine
from edge_tts.voices.cosyvoice import assembly
from edge_tts.voices.cosyvoice.fixed_noise import fixed_noise
from edge_tts.voices.cosyvoice.flow import FlowPrompt, time_steps
from edge_tts.voices.cosyvoice.mel import log_mel
from edge_tts.voices.cosyvoice.randomness import Excitation
from edge_tts.voices.cosyvoice.sampling import Sampler
from edge_tts.voices.cosyvoice.stretch import resize
from edge_tts.voices.cosyvoice.supply import Supply

HIDDEN, MEL, SOUND, EXACT = 1e-4, 1e-3, 2e-3, 0.0
NEAR_TIE = 1e-3
"""Greedy choices with a smaller margin than this may differ."""


class Comparison:
    """One checkpoint on one backend."""

    def __init__(self, backend: str, checkpoint: Checkpoint, goldens: Goldens, engine) -> None:
        self.backend, self.goldens = backend, goldens
        self.settings = constants.settings(checkpoint)
        self.tables = constants.tables(checkpoint)
        self.engine = engine
        self.text = assembly.text_model(self.tables, engine)
        self.lm = assembly.language_model(self.tables, self.settings, engine)
        self.renderer = assembly.renderer(self.tables, self.settings, engine)
        self.vocoder = assembly.vocoder(self.tables, self.settings, engine)
        self.embedding = goldens["in_spk_embedding"].ravel()
        self.speaker = self.tables.flow_speaker.of_direction(self.embedding)

    def check(self, name: str, found: np.ndarray, tolerance: float) -> None:
        self.goldens.check(self.backend, name, found, tolerance)

    def run(self) -> None:
        """Every stage in order."""
        self.language_model()
        self.sampler()
        self.flow()
        self.hift()
        self.end_to_end()

    def language_model(self) -> None:
        goldens = self.goldens
        ids, none = goldens["in_text_ids"][0], np.zeros(0, np.int64)
        if self.text.encoder is not None:
            embedded = self.text.embeddings[ids]
            codes = self.text.encoder.run({"embedded": embedded})["codes"]
            self.check("llm_text_affine_out", codes[None], HIDDEN)
        prefix = self.text.prefix(ids, self.embedding, none, self.lm)
        self.check("llm_input", prefix[None], HIDDEN)
        decoding = self.lm.begin(len(prefix) + 40)
        step = self.lm.step(prefix, decoding)
        self.check("llm_prefill_hidden", step.hidden[None], HIDDEN)
        self.cache(decoding.past)
        self.teacher_forced(prefix)
        self.greedy(prefix)
        self.sampled()

    def cache(self, used: np.ndarray) -> None:
        keys, values = (used[:, :, i].transpose(1, 2, 0, 3) for i in (0, 1))
        self.check("llm_prefill_att_cache", np.concatenate([keys, values], axis=3), HIDDEN)
        self.check("llm_prefill_k", keys, HIDDEN)
        self.check("llm_prefill_v", values, HIDDEN)

    def teacher_forced(self, prefix: np.ndarray) -> None:
        tokens = self.goldens["in_tf_tokens"]
        decoding = self.lm.begin(len(prefix) + len(tokens))
        steps = [self.lm.step(prefix, decoding)]
        steps += [
            self.lm.step(self.lm.embed(tokens[i : i + 1]), decoding) for i in range(len(tokens))
        ]
        self.check("llm_tf_hidden", np.stack([step.hidden[-1] for step in steps]), HIDDEN)
        self.check("llm_tf_logits", np.stack([step.logits for step in steps]), HIDDEN)

    def greedy(self, prefix: np.ndarray) -> None:
        wanted, margins = self.goldens["llm_greedy_tokens"], self.goldens["llm_greedy_margin"]
        decoding = self.lm.begin(len(prefix) + len(wanted))
        step, found = self.lm.step(prefix, decoding), []
        for token, margin in zip(wanted, margins):
            best = int(step.logits[: self.settings.n_speech_tokens].argmax())
            found.append(token if margin < NEAR_TIE else best)
            step = self.lm.step(self.lm.embed(np.array([token])), decoding)
        self.check("llm_greedy_tokens", np.array(found), EXACT)

    def sampled(self) -> None:
        goldens, none = self.goldens, np.zeros(0, np.int64)
        text, spoken = goldens["in_text_ids"][0], goldens["in_prompt_speech_ids"][0]
        with_prompt = np.append(goldens["in_prompt_text_ids"][0], text)
        instructed = np.append(goldens["in_instruct_ids"][0], text)
        layouts = {
            "sft": (text, self.embedding, none),
            "cross_lingual": (text, self.embedding, none),
            "zero_shot": (with_prompt, self.embedding, spoken),
            "instruct": (instructed, None, none),
        }
        for name, (ids, speaker, tokens) in layouts.items():
            for repeat in (0, 1):
                key = f"llm_ras_{name}_{repeat}"
                if f"{key}_tokens" not in goldens.arrays:
                    continue
                uniforms = iter(goldens[f"{key}_uniforms"])
                sampler = Sampler(self.settings, lambda draws=uniforms: float(next(draws)))
                prefix = self.text.prefix(ids, speaker, tokens, self.lm)
                found = list(self.lm.generate(prefix, sampler, 2 * len(text), 20 * len(text)))
                self.check(f"{key}_tokens", np.array(found), EXACT)

    def sampler(self) -> None:
        goldens, found = self.goldens, []
        for scores, before, uniforms in zip(
            goldens["ras_unit_logp"], goldens["ras_unit_prev"], goldens["ras_unit_uniforms"]
        ):
            draws = iter(uniforms)
            sampler = Sampler(self.settings, lambda draws=draws: float(next(draws)))
            found.append(sampler.draw(scores, [int(t) for t in before if t >= 0]))
        self.check("ras_unit_out", np.array(found), EXACT)

    def flow(self) -> None:
        goldens = self.goldens
        self.check("flow_spk_proj", self.speaker, HIDDEN)
        self.check("t_span", time_steps(self.settings.n_steps), 1e-6)
        self.estimator("in_est_{}", "in_est_", chunk=None, name="est_out")
        if self.settings.is_second:
            self.estimator("est_stream_{}", "in_est_", chunk=50, name="est_stream_out")
            noise = fixed_noise()[0]
            self.check("flow_rand_noise_head", noise[:, :16], 1e-6)
            rows = goldens["flow_rand_noise_rowstart"]
            self.check("flow_rand_noise_rowstart", self.row_starts(noise, rows), 1e-6)
        none, example = FlowPrompt.empty(), self.prompt()
        self.mel("noprompt", goldens["in_flow_tokens"][0], none)
        self.mel("prompt", goldens["in_flow_tokens"][0], example)
        self.mel("short", goldens["in_flow_tokens_short"][0], none)
        if self.settings.is_second:
            self.unfinished(goldens["in_flow_tokens"][0], example)

    @staticmethod
    def row_starts(noise: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The first frames of the bands that were recorded, found by their first value."""
        rows = [int(np.abs(noise[:, 0] - row[0]).argmin()) for row in wanted]
        return noise[rows, : wanted.shape[1]]

    def prompt(self) -> FlowPrompt:
        goldens = self.goldens
        return FlowPrompt(goldens["in_prompt_speech_ids"][0], goldens["in_prompt_feat"][0])

    def estimator(self, pattern: str, time: str, *, chunk, name: str) -> None:
        goldens = self.goldens
        names = {"state": "x", "mu": "mu", "speaker": "spks", "cond": "cond"}
        inputs = {key: goldens[pattern.format(short)] for key, short in names.items()}
        inputs["time"] = goldens[f"{time}t"]
        if self.settings.is_second:
            n = inputs["mu"].shape[2]
            ends = (np.arange(n) // (chunk or n) + 1) * (chunk or n)
            inputs["visible"] = np.minimum(ends, n).astype(np.int32)
        self.check(name, self.engine("estimator").run(inputs)["direction"], HIDDEN)

    def mel(self, name: str, tokens: np.ndarray, prompt: FlowPrompt) -> None:
        flow, goldens = self.renderer.flow, self.goldens
        start = flow.start(tokens, prompt)
        n_prompt, n_frames = len(prompt.mel), start.mu.shape[2]
        self.check(f"flow_{name}_encoder_out", start.encoded[None], HIDDEN)
        self.check(f"flow_{name}_mu", start.mu, HIDDEN)
        noise = goldens.arrays.get(f"flow_{name}_z")
        if self.settings.is_second:
            noise = fixed_noise()[:, :, :n_frames]
        mel = flow.mel(start, prompt, self.speaker, noise)
        self.check(f"flow_{name}_mel", mel[:, :, n_prompt:], MEL)
        if f"flow_{name}_cache" in goldens.arrays:
            kept = self.renderer.kept(noise, start.mu, n_prompt)
            self.check(f"flow_{name}_cache", np.stack(kept, axis=3), HIDDEN)

    def unfinished(self, tokens: np.ndarray, prompt: FlowPrompt) -> None:
        """CosyVoice 2 in the middle of a stream, and at the end of one."""
        for stream in (0, 1):
            chunked = {"in_chunks": bool(stream)}
            start = self.renderer.flow.start(tokens, prompt, is_last=False, **chunked)
            end = f"notfinal_stream{stream}"
            self.check(f"flow_prompt_encoder_out_{end}", start.encoded[None], HIDDEN)
            mel = self.renderer.mel(tokens, prompt, self.speaker, is_last=False, **chunked)
            self.check(f"flow_prompt_mel_{end}", mel, MEL)
        mel = self.renderer.mel(tokens, prompt, self.speaker, in_chunks=True)
        self.check("flow_prompt_mel_final_stream1", mel, MEL)

    def hift(self) -> None:
        goldens, vocoder = self.goldens, self.vocoder
        mel, source = goldens["in_hift_mel"], vocoder.source
        f0_hz = vocoder.f0_hz(mel)
        self.check("hift_f0", f0_hz[None], MEL)
        noise = goldens["hift_noise"][0]
        noise = noise if self.settings.is_second else noise.T
        excitation = Excitation(goldens["hift_rand_phase"].ravel(), noise)
        waves = source.waves(goldens["hift_f0"][0], excitation.turns, noise)
        self.check("hift_sine_waves", waves[None], MEL)
        self.check("hift_source", source.signal(waves), MEL)
        self.check("hift_wav", vocoder.render(mel, excitation).samples[None], SOUND)
        samples = vocoder.generate(mel, goldens["hift_source"])
        self.check("hift_wav_from_source", samples[None], SOUND)
        sound = vocoder.render(mel, excitation, goldens["hift_cache_source_in"])
        self.check("hift_cache_wav", sound.samples[None], SOUND)
        spoken = log_mel(
            goldens["in_wav_for_mel"][0],
            self.settings.sample_rate_hz,
            self.settings.samples_per_frame,
        )
        self.check("prompt_mel", spoken.T[None], MEL)
        self.check("mel_speed_1_3", resize(mel, int(mel.shape[2] / 1.3)), HIDDEN)
        self.check("mel_speed_0_7", resize(mel, int(mel.shape[2] / 0.7)), HIDDEN)

    def end_to_end(self) -> None:
        tokens, none = self.goldens["in_stream_tokens"][0], FlowPrompt.empty()
        whole = self.renderer.whole(tokens[:40], none, self.speaker, self.recorded())
        self.sound("e2e_offline", [whole])
        self.sound("e2e_stream", self.chunks(tokens, none))
        self.sound("e2e_stream_prompt", self.chunks(tokens, self.prompt()))

    def chunks(self, tokens: np.ndarray, prompt: FlowPrompt) -> Iterator[np.ndarray]:
        pieces = self.renderer.chunks(
            Supply.of(tokens), prompt, self.speaker, self.recorded(), like_official=True
        )
        return (piece for piece in pieces if len(piece))

    def recorded(self) -> Recorded:
        n_harmonics = self.vocoder.source.n_harmonics
        return Recorded(self.goldens.seed, n_harmonics, is_second=self.settings.is_second)

    def sound(self, name: str, pieces) -> None:
        pieces = list(pieces)
        self.check(f"{name}_wav", np.concatenate(pieces)[None], SOUND)
        self.check(f"{name}_chunk_lens", np.array([len(piece) for piece in pieces]), EXACT)


def inner_stages(checkpoint: Checkpoint, goldens: Goldens) -> None:
    """Arrays inside a graph, which only the torch modules show."""
    hift, estimator = checkpoint.hift, checkpoint.flow.decoder["estimator"]
    mel, source = (torch.from_numpy(goldens[name]) for name in ("in_hift_mel", "hift_source"))
    with torch.no_grad():
        if hasattr(checkpoint.lm, "text_encoder"):
            ids = torch.from_numpy(goldens["in_text_ids"][0])
            codes = checkpoint.lm.text_encoder(checkpoint.lm.text_embedding(ids))
            goldens.check("torch", "llm_text_encoder_out", codes[None], HIDDEN)
        time = estimator.time_mlp(torch.from_numpy(goldens["in_est_t"]))
        goldens.check("torch", "est_time_emb", time, HIDDEN)
        parts_of_source = hift.spectrum.analyse(source)
        goldens.check("torch", "hift_source_stft", parts_of_source, HIDDEN)
        before = hift.conv_pre(mel)
        goldens.check("torch", "hift_conv_pre", before, HIDDEN)
        leak = checkpoint.hift_config.leak
        raised = hift.ups[0](torch.nn.functional.leaky_relu(before, leak))
        goldens.check("torch", "hift_up0", raised, HIDDEN)
        lowered = hift.source_downs[0](parts_of_source)
        goldens.check("torch", "hift_source_down0", lowered, HIDDEN)
        goldens.check("torch", "hift_conv_post", hift.convolve(mel, parts_of_source), MEL)


def compare(path: Path) -> int:
    """Number of misses for one directory."""
    checkpoint = read_checkpoint(path)
    arrays = dict(np.load(path / "goldens.npz"))
    described = json.loads((path / "goldens.json").read_text(encoding="utf-8"))
    goldens = Goldens(arrays, int(described["config"]["seed"]))
    print(f"{path}: {checkpoint.generation.value}")
    known = {part.name: part for part in parts(checkpoint)}
    engines = {name: TorchEngine(part) for name, part in known.items()}
    inner_stages(checkpoint, goldens)
    Comparison("torch", checkpoint, goldens, engines.__getitem__).run()
    with tempfile.TemporaryDirectory() as folder:
        graphs = {}
        for name, part in known.items():
            export_optimised(part, Path(folder) / f"{name}.onnx")
            graphs[name] = OnnxEngine(Path(folder) / f"{name}.onnx", n_threads=1)
        Comparison("onnx", checkpoint, goldens, graphs.__getitem__).run()
    missing = goldens.unseen()
    for name in missing:
        print(f"  NOT COMPARED {name}")
    return goldens.failures + len(missing)


def main(arguments: Sequence[str]) -> int:
    """Compare every directory; 1 if anything missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    misses = {path: compare(path) for path in args.directories}
    for path, count in misses.items():
        print(f"{path}: {'every array within its tolerance' if not count else f'{count} misses'}")
    return 1 if any(misses.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
