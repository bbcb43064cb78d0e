"""The student, its warm start and its streaming graph; needs the extra that trains it."""

import pytest

torch = pytest.importorskip("torch")

from edge_tts.build.fast_voice.export import StreamingStudent, example_inputs  # noqa: E402
from edge_tts.build.fast_voice.model import Student, StudentConfig  # noqa: E402
from edge_tts.build.fast_voice.warm_start import move_taps, warm_start  # noqa: E402

SMALL = {"frame_channels": 24, "sub_channels": 16, "condition": 8, "bottleneck": 4}
CAUSAL = StudentConfig(frame_ahead=(1, 1, 0), sub_ahead=(1, 1), **SMALL)
CENTRED = StudentConfig(frame_ahead=(3, 3), sub_ahead=(3, 3), **SMALL)


def lively(config: StudentConfig, seed: int = 3) -> Student:
    """A student whose parameters all matter: fresh ones are zero in places."""
    torch.manual_seed(seed)
    student = Student(config).eval()
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return student


def spectrum(student: Student, inputs: tuple) -> torch.Tensor:
    with torch.no_grad():
        return torch.stack(student.spectrum(*inputs))


def test_it_sees_no_further_ahead_than_it_says() -> None:
    student = lively(CAUSAL)
    n_frames, changed = 40, 30
    x, f0_hz, energy, condition = example_inputs(CAUSAL, n_frames)[:4]
    other = x.clone()
    other[:, :, changed:] += 1.0
    before = spectrum(student, (x, f0_hz, energy, condition))
    after = spectrum(student, (other, f0_hz, energy, condition))
    # Row t speaks of frame t - look_ahead, so row `changed` is the first that may know.
    first = changed * CAUSAL.upsampling
    assert torch.equal(before[:, :, :first], after[:, :, :first])
    assert not torch.equal(before[:, :, first:], after[:, :, first:])


def test_windows_with_states_join_to_the_whole() -> None:
    streaming = StreamingStudent(lively(CAUSAL)).eval()
    n_frames, window = 30, 10
    x, f0_hz, energy, condition, source, noise, *states = example_inputs(CAUSAL, n_frames)
    overlap = CAUSAL.n_fft - CAUSAL.hop
    joined = torch.zeros(1, 300 * n_frames + overlap)
    with torch.no_grad():
        whole = streaming(x, f0_hz, energy, condition, source, noise, *states)[0]
        for start in range(0, n_frames, window):
            frames = slice(start, start + window)
            samples = slice(300 * start, 300 * (start + window) + overlap)
            sub_frames = slice(2 * start, 2 * (start + window))
            audio, *states = streaming(
                x[:, :, frames],
                f0_hz[:, frames],
                energy[:, frames],
                condition,
                source[:, samples],
                noise[:, :, sub_frames],
                *states,
            )
            joined[:, samples] += audio
    assert torch.allclose(joined, whole, atol=1e-5)


def test_a_warm_start_with_the_same_sight_changes_nothing() -> None:
    given = lively(CENTRED)
    deeper = Student(StudentConfig(frame_ahead=(3, 3, 0), sub_ahead=(3, 3, 0), **SMALL)).eval()
    warm_start(deeper, given)
    inputs = example_inputs(CENTRED, 30)[:4]
    assert torch.allclose(spectrum(deeper, inputs), spectrum(given, inputs), atol=1e-6)


def test_taps_beyond_the_new_sight_join_the_last() -> None:
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert move_taps(weight, 3, 3).tolist() == weight.tolist()
    assert move_taps(weight, 3, 1).tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 18.0]


def test_a_warm_start_refuses_a_student_of_other_sizes() -> None:
    deeper = lively(StudentConfig(frame_ahead=(1, 1, 0, 0), sub_ahead=(1, 1), **SMALL))
    with pytest.raises(ValueError, match="more blocks"):
        warm_start(Student(CAUSAL), deeper)
    wider = lively(
        StudentConfig(frame_ahead=(1, 1, 0), sub_ahead=(1, 1), **{**SMALL, "condition": 9})
    )
    with pytest.raises(ValueError, match="condition"):
        warm_start(Student(CAUSAL), wider)
