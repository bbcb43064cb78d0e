"""What the examination makes of a board's files: those of a Xavier NX with JetPack 5.1.7, and of
boards that are too old, too hot, too full or wrongly set up."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from edge_tts import doctor_jetson
from edge_tts.findings import Status
from edge_tts.jetson import Jetson
from edge_tts.runtime.engine_manifest import EngineManifest
from edge_tts.runtime.integrity import sha256_of

sys.path.append(str(Path(__file__).parent / "voices"))  # tiny_kokoro
sys.path.append(str(Path(__file__).parent / "runtime" / "stand_in"))  # simulated_plan

GPU = "sys/class/devfreq/17000000.gv11b"
CPU = "sys/devices/system/cpu/cpu0/cpufreq"
HOT = "sys/class/thermal/thermal_zone1"
XAVIER_NX = {
    "etc/nv_tegra_release": "# R35 (release), REVISION: 6.5, GCID: 40000000, BOARD: t186ref, "
    "EABI: aarch64, DATE: Fri Jul 24 08:00:00 UTC 2026\n",
    "proc/device-tree/model": "NVIDIA Jetson Xavier NX Developer Kit\0",
    "proc/device-tree/compatible": "nvidia,p3509-0000+p3668-0000\0nvidia,tegra194\0",
    "usr/local/cuda/version.json": '{"cuda": {"name": "CUDA SDK", "version": "11.4.315"}}',
    "usr/lib/python3.8/dist-packages/tensorrt-8.5.2.2.dist-info/METADATA": "",
    "var/lib/nvpmodel/status": "pmode:0008 fmode:fanNull",
    "etc/nvpmodel.conf": "< POWER_MODEL ID=0 NAME=MODE_15W_2CORE >\n"
    "< POWER_MODEL ID=8 NAME=MODE_20W_6CORE >\n",
    "proc/meminfo": "MemTotal:        6996988 kB\nMemFree:         2500000 kB\n"
    "MemAvailable:    3993600 kB\nNvMapMemUsed:      51200 kB\n",
    "proc/buddyinfo": "Node 0, zone      DMA    100     50     20     10      5      4      3"
    "      2      2      1    150\nNode 0, zone   Normal   9000   5000   2000   1000    500    250"
    "    100     50     20     10    400\n",
    f"{GPU}/min_freq": "1109250000\n",
    f"{GPU}/max_freq": "1109250000\n",
    f"{GPU}/available_frequencies": "114750000 1032750000 1109250000\n",
    f"{CPU}/scaling_min_freq": "1420800\n",
    f"{CPU}/scaling_max_freq": "1420800\n",
    f"{CPU}/cpuinfo_max_freq": "1420800\n",
    "sys/class/thermal/thermal_zone0/type": "CPU-therm\n",
    "sys/class/thermal/thermal_zone0/temp": "45500\n",
    f"{HOT}/type": "GPU-therm\n",
    f"{HOT}/temp": "43000\n",
    f"{HOT}/trip_point_0_type": "critical\n",
    f"{HOT}/trip_point_0_temp": "96000\n",
    f"{HOT}/trip_point_1_type": "passive\n",
    f"{HOT}/trip_point_1_temp": "82000\n",
}


@pytest.fixture
def board(tmp_path, monkeypatch):
    """Write a board's files and return its examination; `None` leaves a file out."""
    monkeypatch.setattr(doctor_jetson, "_metadata", {"tensorrt": "8.5.2.2"}.get)

    def examined(changes=(), voices=(), budget_mib=1000):
        root = tmp_path / "root"
        for place, text in {**XAVIER_NX, **dict(changes)}.items():
            if text is not None:
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(text, encoding="utf-8")
        return list(doctor_jetson.examine(Jetson(root), voices, budget_mib))

    return examined


def one(findings, subject):
    (finding,) = [finding for finding in findings if finding.subject == subject]
    return finding


def test_a_board_in_order(board):
    findings = board()
    assert {finding.status for finding in findings} == {Status.OK}
    assert {finding.subject: finding.detail for finding in findings} == {
        "board": "NVIDIA Jetson Xavier NX Developer Kit, JetPack 5 (L4T R35.6.5)",
        "tensorrt": "8.5.2.2, CUDA 11.4.315",
        "cuda binding": "no pycuda; the driver's library is called instead",
        "budget": "budget 1000 MiB of 3900 MiB available, 50 MiB held by the GPU",
        "fragmentation": "2497 MiB free, 2244 MiB of it in blocks of 1 MiB and more, the largest"
        " 4 MiB",
        "power mode": "MODE_20W_6CORE",
        "clocks": "GPU 1109 to 1109 of 1109 MHz, CPU 1421 to 1421 of 1421 MHz, pinned",
        "heat": "46 °C at the hottest (CPU-therm)",
    }


@pytest.mark.parametrize(
    ("changes", "subject", "words"),
    [
        (
            {"etc/nv_tegra_release": "# R32 (release), REVISION: 7.6, BOARD: t210ref\n"},
            "board",
            "JetPack 4 (L4T R32.7.6): its TensorRT has no named tensors",
        ),
        ({"etc/nv_tegra_release": None}, "board", "nv_tegra_release is missing"),
        ({"proc/meminfo": "MemAvailable:  800000 kB\n"}, "budget", "1000 MiB of 781 MiB"),
        (
            {"proc/buddyinfo": "Node 0, zone   Normal  90000 50000 0 0 0 0 0 0 3 0 0\n"},
            "fragmentation",
            "3 MiB of it in blocks of 1 MiB and more, the largest 1 MiB",
        ),
        ({"var/lib/nvpmodel/status": None}, "power mode", "unknown"),
        ({f"{GPU}/min_freq": "114750000\n"}, "clocks", "GPU 115 to 1109 of 1109 MHz"),
        (
            {f"{CPU}/scaling_max_freq": "1190400\n", f"{CPU}/scaling_min_freq": "1190400\n"},
            "clocks",
            "CPU 1190 to 1190 of 1421 MHz",
        ),
        ({f"{HOT}/temp": "82500\n"}, "heat", "throttling because of GPU-therm"),
        ({f"{HOT}/temp": "79000\n"}, "heat", "about to throttle: GPU-therm"),
    ],
    ids=["old", "container", "full", "divided", "mode", "clocks", "slow", "throttling", "warm"],
)
def test_what_is_wrong_is_a_warning_that_says_so(board, changes, subject, words):
    finding = one(board(changes), subject)
    assert finding.status is Status.WARNING
    assert words in finding.detail
    assert finding.remedy or "about to" in finding.detail


def test_an_unreadable_file_hides_its_finding_and_nothing_else(board):
    gone = {place: None for place in XAVIER_NX if place.startswith(("sys/", "proc/buddyinfo"))}
    found = {finding.subject for finding in board(gone)}
    assert found == {"board", "tensorrt", "cuda binding", "budget", "power mode"}


@pytest.mark.parametrize(
    ("release", "soc", "sm", "jetpack"),
    [("35", "tegra194", "7.2", 5), ("36", "tegra234", "8.7", 6), ("38", "tegra264", "11.0", 7)],
)
def test_boards_are_known_by_release_and_chip(tmp_path, release, soc, sm, jetpack):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/nv_tegra_release").write_text(f"# R{release} (release), REVISION: 4.0, X\n")
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/compatible").write_text(f"nvidia,board\0nvidia,{soc}\0")
    jetson = Jetson(tmp_path)
    assert (jetson.sm, jetson.release.jetpack) == (sm, jetpack)


def test_tensorrt_that_the_environment_does_not_see(board, monkeypatch):
    monkeypatch.setattr(doctor_jetson, "_metadata", {"pycuda": "2024.1.2"}.get)
    findings = board()
    assert "--system-site-packages" in one(findings, "tensorrt").remedy
    assert one(findings, "cuda binding").detail == "pycuda 2024.1.2"


def test_another_machine_has_no_board_findings(tmp_path):
    assert list(doctor_jetson.examine(Jetson(tmp_path), [], 1000)) == []


@pytest.fixture
def voice(tmp_path):
    from simulated_plan import write_engine
    from tiny_kokoro import write_voice

    directory = write_voice(tmp_path / "tiny")
    style = [(1, 256)] * 3
    for part in ("encoder", "prosody"):
        write_engine(directory.path, part, [{"style": style}])
    return directory


def test_engines_that_fit_and_one_that_does_not(board, voice):
    file = voice.path / "engines" / "prosody.json"
    manifest = EngineManifest.read(file)
    replace(manifest, target=replace(manifest.target, tensorrt="8.5.3.1")).write(file)
    fit, unfit = sorted(
        (f for f in board(voices=[voice]) if f.subject == "engines"), key=lambda f: f.status.value
    )
    assert (fit.status, fit.detail) == (Status.OK, "tiny: encoder on TensorRT")
    assert unfit.status is Status.WARNING
    assert "built for tensorrt 8.5.3.1, this machine has 8.5.2.2" in unfit.detail
    assert "run: edge-tts build" in unfit.detail


def test_engines_on_a_machine_that_is_no_jetson(tmp_path, voice, monkeypatch):
    monkeypatch.setattr(doctor_jetson, "_metadata", {}.get)
    before = sha256_of(voice.path / "voice.yaml")
    (finding,) = doctor_jetson.examine(Jetson(tmp_path / "none"), [voice], 1000)
    assert finding.status is Status.WARNING
    assert "tiny has 2, unused without TensorRT" in finding.detail
    assert sha256_of(voice.path / "voice.yaml") == before


def test_a_voice_without_engines_is_in_order(board, voice):
    for file in (voice.path / "engines").iterdir():
        file.unlink()
    assert one(board(voices=[voice]), "engines").detail == "tiny has none, ONNX Runtime speaks"
