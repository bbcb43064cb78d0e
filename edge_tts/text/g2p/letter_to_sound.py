"""Pronunciation of English words no lexicon has, by a small recurrent network.

The weights are the encoder-decoder of g2p-en 2.1.0 (Apache-2.0), trained by its authors on
CMUdict: letters → a GRU of 256 units → a second GRU that emits ARPAbet. Stored as float16.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Tuple, cast

from edge_tts.errors import ModelError
from edge_tts.text.g2p.arpabet import ARPABET, to_kokoro
from edge_tts.text.g2p.english_sounds import demoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS_PATH = Path(__file__).parent.parent / "data" / "en_letter_to_sound.npz"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
MAX_CHUNK_LETTERS = 14
"""The network was trained on words; longer strings are read in pieces of at most this many."""

CACHED_PIECES = 1024

_N_RESERVED_LETTERS = 3  # padding, unknown, end
_END_OF_LETTERS = 2
_START, _END_OF_SOUNDS = 2, 3
_MAX_PHONEMES = 24
_PHONEMES = ("<pad>", "<unk>", "<s>", "</s>", *sorted(ARPABET))


@dataclass(frozen=True)
class _GruCell:
    """One gated recurrent unit; rows are the reset, update and candidate gates."""

    input_weights: NDArray[np.float32]
    state_weights: NDArray[np.float32]
    input_bias: NDArray[np.float32]
    state_bias: NDArray[np.float32]

    def step(self, x: NDArray[np.float32], state: NDArray[np.float32]) -> NDArray[np.float32]:
        """The next state, float32 [units] (Cho et al. 2014, in the form used by cuDNN)."""
        import numpy as np

        units = state.shape[0]
        from_input = self.input_weights @ x + self.input_bias
        from_state = self.state_weights @ state + self.state_bias
        gates = 1.0 / (1.0 + np.exp(-(from_input[: 2 * units] + from_state[: 2 * units])))
        reset, update = gates[:units], gates[units:]
        candidate = np.tanh(from_input[2 * units :] + reset * from_state[2 * units :])
        return cast("NDArray[np.float32]", (1.0 - update) * candidate + update * state)


class LetterToSound:
    """The network, loaded at the first word it is asked for. Deterministic."""

    def __init__(self, path: Path = WEIGHTS_PATH) -> None:
        self._path = path
        self._weights: Dict[str, NDArray[np.float32]] = {}
        self._cached = lru_cache(maxsize=CACHED_PIECES)(self._piece)

    def pronounce(self, word: str) -> str:
        """Kokoro phonemes for `word`, letters a-z only; "" when it has none.

        Raises `ModelError` when the weights are missing or damaged.
        """
        pieces = [self._cached(piece) for piece in chunks(_letters(word))]
        return pieces[0] + "".join(demoted(piece) for piece in pieces[1:]) if pieces else ""

    def _piece(self, letters: str) -> str:
        return to_kokoro(self._decode(letters))

    def _decode(self, letters: str) -> List[str]:
        if not self._weights:
            self._weights = _load(self._path)
        weights, encoder, decoder = self._weights, self._cell("enc"), self._cell("dec")
        state = weights["enc_b_hh"][:256] * 0
        for letter in letters:
            index = ALPHABET.index(letter) + _N_RESERVED_LETTERS
            state = encoder.step(weights["enc_emb"][index], state)
        state = encoder.step(weights["enc_emb"][_END_OF_LETTERS], state)
        phoneme, phonemes = _START, []
        for _ in range(_MAX_PHONEMES):
            state = decoder.step(weights["dec_emb"][phoneme], state)
            phoneme = int((weights["fc_w"] @ state + weights["fc_b"]).argmax())
            if phoneme == _END_OF_SOUNDS:
                break
            if phoneme > _END_OF_SOUNDS:
                phonemes.append(_PHONEMES[phoneme])
        return phonemes

    def _cell(self, side: str) -> _GruCell:
        weights = self._weights
        names = ("w_ih", "w_hh", "b_ih", "b_hh")
        return _GruCell(*(weights[f"{side}_{name}"] for name in names))


def chunks(letters: str) -> List[str]:
    """`letters` in pieces of at most `MAX_CHUNK_LETTERS`, cut before a consonant where possible."""
    pieces = []
    while len(letters) > MAX_CHUNK_LETTERS:
        cut = MAX_CHUNK_LETTERS
        for candidate in range(MAX_CHUNK_LETTERS, MAX_CHUNK_LETTERS // 2, -1):
            if letters[candidate] not in "aeiouy" and letters[candidate - 1] in "aeiouy":
                cut = candidate
                break
        pieces.append(letters[:cut])
        letters = letters[cut:]
    return [*pieces, letters] if letters else pieces


def _letters(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter in ALPHABET)


def _load(path: Path) -> Dict[str, NDArray[np.float32]]:
    import numpy as np

    names: Tuple[str, ...] = ("emb", "w_ih", "w_hh", "b_ih", "b_hh")
    wanted = [f"{side}_{name}" for side in ("enc", "dec") for name in names] + ["fc_w", "fc_b"]
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name].astype(np.float32) for name in wanted}
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"cannot read the letter-to-sound weights {path}: {error}") from error
