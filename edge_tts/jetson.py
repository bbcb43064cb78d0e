"""What a Jetson's files tell of it: release, power mode, clocks, heat, memory.

Everything is read below a root directory, `/` on a board, so that another board's files can be
examined. Nothing is started, nothing needs root. Sources: NVIDIA's L4T release files and nvpmodel
configuration; the kernel's documentation of procfs, devfreq and thermal.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

ROOT = Path("/")
JETPACK_BY_L4T = {32: 4, 34: 5, 35: 5, 36: 6, 38: 7, 39: 7}
SM_BY_SOC = {
    "tegra210": "5.3",
    "tegra186": "6.2",
    "tegra194": "7.2",
    "tegra234": "8.7",
    "tegra264": "11.0",
}
_PAGE_KIB = 4
_CPU_FREQ = "sys/devices/system/cpu/cpu0/cpufreq"


@dataclass(frozen=True)
class Release:
    """L4T, the board support package under a JetPack."""

    major: int
    revision: str

    @property
    def jetpack(self) -> Optional[int]:
        """The JetPack it belongs to; None for one unknown here."""
        return JETPACK_BY_L4T.get(self.major)

    def __str__(self) -> str:
        jetpack = "unknown JetPack" if self.jetpack is None else f"JetPack {self.jetpack}"
        return f"{jetpack} (L4T R{self.major}.{self.revision})"


@dataclass(frozen=True)
class Clock:
    """A clock's range now and what it could reach, in MHz."""

    name: str
    low_mhz: float
    high_mhz: float
    limit_mhz: float

    @property
    def is_pinned(self) -> bool:
        """True when it stays at its greatest frequency, as `jetson_clocks` leaves it."""
        return self.low_mhz == self.high_mhz == self.limit_mhz


@dataclass(frozen=True)
class Zone:
    """A temperature and the least one at which the kernel slows things down, in °C."""

    name: str
    celsius: float
    throttles_at_celsius: Optional[float]

    @property
    def is_throttling(self) -> bool:
        """True when the kernel slows things down because of it."""
        limit = self.throttles_at_celsius
        return limit is not None and self.celsius >= limit


@dataclass(frozen=True)
class FreeBlocks:
    """Free memory by the size of its contiguous blocks."""

    free_kib: int
    large_kib: int
    """Of it in blocks of a megabyte and more."""
    largest_kib: int


class Jetson:
    """The board whose files lie below `root`."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root

    @property
    def is_one(self) -> bool:
        """Whether it is a Jetson at all."""
        return self.release is not None or self.sm is not None

    @property
    def model(self) -> str:
        """Name of the board."""
        return (self._text("proc/device-tree/model") or "unknown board").strip("\0\n ")

    @property
    def sm(self) -> Optional[str]:
        """Compute capability, known from the chip without starting CUDA."""
        compatible = self._text("proc/device-tree/compatible") or ""
        chip = re.search(r"nvidia,(tegra\d+)", compatible)
        return SM_BY_SOC.get(chip.group(1)) if chip else None

    @property
    def release(self) -> Optional[Release]:
        """From `/etc/nv_tegra_release`; the package `nvidia-jetpack` can be older than it."""
        text = self._text("etc/nv_tegra_release") or ""
        match = re.search(r"R(\d+) \(release\), REVISION: ([\d.]+)", text)
        return Release(int(match.group(1)), match.group(2)) if match else None

    @property
    def cuda_version(self) -> Optional[str]:
        """Of the toolkit in `/usr/local/cuda`."""
        try:
            document = json.loads(self._text("usr/local/cuda/version.json") or "")
            return str(document["cuda"]["version"])
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def tensorrt_version(self) -> Optional[str]:
        """Of JetPack's Python package, which pip did not install."""
        folders = self._root.glob("usr/lib/python3*/dist-packages/tensorrt-*.dist-info")
        versions = sorted(folder.name[len("tensorrt-") : -len(".dist-info")] for folder in folders)
        return versions[-1] if versions else None

    @property
    def power_mode(self) -> Optional[str]:
        """nvpmodel's mode: its name, or its number when the configuration has no such name."""
        match = re.search(r"pmode:0*(\d+)", self._text("var/lib/nvpmodel/status") or "")
        if match is None:
            return None
        pattern = rf"< *POWER_MODEL +ID={match.group(1)} +NAME=(\S+) *>"
        named = re.search(pattern, self._text("etc/nvpmodel.conf") or "")
        return named.group(1) if named else f"mode {match.group(1)}"

    def clocks(self) -> Iterator[Clock]:
        """GPU and CPU."""
        for folder in sorted(self._root.glob("sys/class/devfreq/*")):
            if re.search(r"gv11b|ga10b|gb10b|gp10b|gm20b|gpu", folder.name):
                listed = self._text(f"sys/class/devfreq/{folder.name}/available_frequencies")
                frequencies = [float(hz) / 1e6 for hz in (listed or "").split()]
                low, high = (
                    self._number(f"sys/class/devfreq/{folder.name}/{end}_freq")
                    for end in ("min", "max")
                )
                if low is not None and high is not None:
                    yield Clock("GPU", low / 1e6, high / 1e6, max(frequencies, default=high / 1e6))
        low, high, limit = (
            self._number(f"{_CPU_FREQ}/{name}")
            for name in ("scaling_min_freq", "scaling_max_freq", "cpuinfo_max_freq")
        )
        if low is not None and high is not None and limit is not None:
            yield Clock("CPU", low / 1e3, high / 1e3, limit / 1e3)

    def zones(self) -> Iterator[Zone]:
        """Every temperature that can be read."""
        for folder in sorted(self._root.glob("sys/class/thermal/thermal_zone*")):
            place = f"sys/class/thermal/{folder.name}"
            millidegrees = self._number(f"{place}/temp")
            if millidegrees is not None:
                name = (self._text(f"{place}/type") or folder.name).strip()
                yield Zone(name, millidegrees / 1000, self._passive_celsius(folder, place))

    def _passive_celsius(self, folder: Path, place: str) -> Optional[float]:
        limits: List[float] = []
        for file in folder.glob("trip_point_*_type"):
            if (self._text(f"{place}/{file.name}") or "").strip() == "passive":
                limit = self._number(f"{place}/{file.name[: -len('type')]}temp")
                limits += [] if limit is None else [limit / 1000]
        return min(limits) if limits else None

    def meminfo_kib(self) -> Dict[str, int]:
        """`/proc/meminfo`. On some kernels `NvMapMemUsed` is what the GPU driver holds."""
        rows = re.findall(r"^(\w+): +(\d+) kB$", self._text("proc/meminfo") or "", re.MULTILINE)
        return {name: int(kib) for name, kib in rows}

    def free_blocks(self) -> Optional[FreeBlocks]:
        """`/proc/buddyinfo`, all zones together."""
        rows = re.findall(r"zone +\w+ +([\d ]+)", self._text("proc/buddyinfo") or "")
        if not rows:
            return None
        sizes: List[Tuple[int, int]] = [
            (_PAGE_KIB << order, int(count))
            for row in rows
            for order, count in enumerate(row.split())
        ]
        return FreeBlocks(
            sum(size * count for size, count in sizes),
            sum(size * count for size, count in sizes if size >= 1024),
            max((size for size, count in sizes if count), default=0),
        )

    def _number(self, place: str) -> Optional[float]:
        try:
            return float(self._text(place) or "")
        except ValueError:
            return None

    def _text(self, place: str) -> Optional[str]:
        try:
            return (self._root / place).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
