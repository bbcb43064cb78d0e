import pytest
from tiny_kokoro import write_voice


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The only voice store of this test; it holds the voice `tiny`."""
    root = tmp_path / "voices"
    monkeypatch.setenv("EDGE_TTS_VOICES_DIR", str(root))
    write_voice(root / "tiny")
    return root
