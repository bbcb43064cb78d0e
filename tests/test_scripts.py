"""The set-up scripts, run for real; what would install something runs in a copy of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import wave
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"
NOBODY = 65534


def bash(code: str, *arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code, "bash", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,
    )


def quickstart(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    return bash('exec "$@"', str(root / "scripts/quickstart.sh"), *arguments, **options)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which nothing has been set up yet."""
    root = tmp_path / "checkout"
    shutil.copytree(SCRIPTS, root / "scripts", ignore=shutil.ignore_patterns("*.tsv", "*.py"))
    (root / "edge_tts/build/kokoro").mkdir(parents=True)
    for name in ("setup.py", "edge_tts/__init__.py", "edge_tts/build/kokoro/prepare.py"):
        shutil.copy(ROOT / name, root / name)
    return root


def sourced(checkout: Path, code: str, **options) -> subprocess.CompletedProcess:
    return bash(f'. "$1"/scripts/setup_env.sh\n{code}', str(checkout), **options)


def test_no_text_is_a_usage_error_and_help_is_not(checkout):
    missing, helped = quickstart(checkout), quickstart(checkout, "--help")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert missing.stderr == helped.stdout
    assert "usage: scripts/quickstart.sh TEXT" in helped.stdout
    assert not (checkout / ".venv").exists()


def test_a_voice_of_another_version_does_not_count_as_installed(checkout, tmp_path):
    pytest.importorskip("onnx")
    from edge_tts.build.kokoro.prepare import INFO

    voice = tmp_path / "voices/kokoro"
    voice.mkdir(parents=True)
    environment = {**os.environ, "EDGE_TTS_VOICES_DIR": str(tmp_path / "voices")}
    for version, code in ((INFO.version, 0), ("0.9-int8.1", 1)):
        (voice / "voice.yaml").write_text(f"format: 1\nvoice:\n  version: {version}\n")
        found = sourced(checkout, "_has_default_voice || exit 1", env=environment)
        assert found.returncode == code, found.stderr


def test_an_environment_with_the_online_program_is_refused(checkout):
    site = checkout / ".venv/lib/python3.11/site-packages"
    (site / "edge_tts_device-0.1.0.dist-info").mkdir(parents=True)
    assert sourced(checkout, "_refuse_online_edge_tts").returncode == 0
    (site / "edge_tts-7.2.8.dist-info").mkdir()
    done = quickstart(checkout, "hello")
    assert done.returncode == 1
    assert "Microsoft's online voices" in done.stderr
    assert "pip uninstall -y edge-tts" in done.stderr


@pytest.mark.parametrize(
    ("change", "is_current"),
    [
        ("true", True),
        ('echo >>"$ROOT/setup.py"', False),
        ('echo >>"$ROOT/edge_tts/__init__.py"', False),
        ('rm "$VENV/edge-tts.run-time.stamp"', False),
        (': >"$VENV/edge-tts.run-time.stamp"', False),
        ('rm "$VENV_PYTHON"', False),
    ],
)
def test_set_up_is_repeated_when_what_it_was_made_from_changes(checkout, change, is_current):
    code = f"""
      mkdir -p "$VENV/bin"
      ln -s /bin/sh "$VENV_PYTHON"
      _fingerprint >"$VENV/edge-tts.run-time.stamp"
      {change}
      _is_current "$VENV/edge-tts.run-time.stamp" "$(_fingerprint)" && echo current || echo stale
    """
    done = sourced(checkout, code)
    assert done.stdout == ("current\n" if is_current else "stale\n"), done.stderr


def test_the_first_fit_python_is_found_and_a_named_one_is_taken_at_its_word(checkout):
    environment = {key: value for key, value in os.environ.items() if key != "EDGE_TTS_PYTHON"}
    found = sourced(checkout, "find_python", env=environment)
    assert Path(found.stdout.strip()).is_file(), found.stderr
    named = quickstart(checkout, "hello", env={**environment, "EDGE_TTS_PYTHON": "/bin/false"})
    assert named.returncode == 1
    assert "EDGE_TTS_PYTHON=/bin/false is not Python 3.8 or newer" in named.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_may_not_install_is_told_the_exact_command(checkout, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "id", "dirname", "apt-get"):
        path = shutil.which(name)
        if path:
            (tools / name).symlink_to(path)
    code = f'. {SCRIPTS}/setup_env.sh; VENV_PYTHON=false _install_portaudio; echo "goes on"'
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", "--clear-groups", "bash", "-euc", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": str(tools), "HOME": "/nonexistent"},
        executable=shutil.which("setpriv"),
    )
    assert done.stdout == "goes on\n", done.stderr
    assert "sudo apt-get install -y libportaudio2" in done.stderr


def test_an_offline_folder_that_is_missing_ends_the_set_up(checkout):
    environment = {**os.environ, "EDGE_TTS_WHEELS": str(checkout / "nowhere")}
    done = quickstart(checkout, "hello", env=environment)
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert not (checkout / ".venv").exists()


def test_ci_runs_the_test_script():
    assert 'scripts/test.sh"' in (ROOT / ".ci/run").read_text(encoding="utf-8")
    for script in (ROOT / ".ci/run", SCRIPTS / "test.sh", SCRIPTS / "quickstart.sh"):
        assert os.access(script, os.X_OK)
        assert bash('bash -n "$1"', str(script)).returncode == 0


def without_network(command: list) -> list:
    """Root can be sure; for others a proxy that answers nothing has to do."""
    return ["unshare", "--net", *command] if os.geteuid() == 0 else command


@pytest.mark.voice
def test_a_second_run_does_no_set_up_and_needs_no_network(tmp_path):
    if bash(f". {SCRIPTS}/setup_env.sh; _is_set_up run-time").returncode != 0:
        pytest.skip("scripts/test.sh has not set up this checkout")
    absent = tmp_path / "alsa.conf"
    absent.write_text("pcm.absent { type hw card 99 }\n", encoding="utf-8")
    environment = {**os.environ, "ALSA_CONFIG_PATH": str(absent), "PIP_INDEX_URL": "http://0.0.0.0"}
    done = subprocess.run(
        without_network([str(SCRIPTS / "quickstart.sh"), "-5℃, 请系好安全带。"]),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "==>" not in done.stderr
    assert "edge-tts.wav" in done.stderr
    with wave.open(str(tmp_path / "edge-tts.wav")) as heard:
        assert heard.getnframes() > heard.getframerate()
