"""Is there enough memory to build an engine on this board, and if not, what would help?

TensorRT's builder holds the weights at least twice beside its workspace, on boards where GPU and
CPU share 8 GB. When that runs out, Linux kills a process without a word: better to say it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

from edge_tts.build.tensorrt.recipe import Platform
from edge_tts.errors import BudgetError

_WEIGHT_COPIES = 3
"""Read from the file, in the network, in the plan."""
_DESKTOPS = frozenset({"gnome-shell", "Xorg", "Xwayland", "lightdm", "gdm3", "sddm", "plasmashell"})
_DESKTOP_MIB = 800
_SWAP_STEP_MIB = 1024


@dataclass(frozen=True)
class Memory:
    """What the machine has at the moment."""

    available_mib: int
    free_swap_mib: int
    has_desktop: bool


def read_memory(proc: Path = Path("/proc")) -> Memory:
    """Read `/proc`. Raises OSError where there is none."""
    lines = (proc / "meminfo").read_text(encoding="ascii").splitlines()
    mib: Dict[str, int] = {}
    for line in lines:
        name, _, value = line.partition(":")
        digits = value.split()
        if digits and digits[0].isdigit():
            mib[name] = int(digits[0]) // 1024
    return Memory(mib.get("MemAvailable", 0), mib.get("SwapFree", 0), _has_desktop(proc))


def needed_mib(platform: Platform, graph_bytes: int) -> int:
    """What building takes (derived, not yet run on a board)."""
    weights_mib = graph_bytes // (1 << 20) + 1
    return platform.builder_mib + platform.workspace_mib + _WEIGHT_COPIES * weights_mib


def require(memory: Memory, platform: Platform, part: str, graph_bytes: int) -> None:
    """Raise BudgetError with what to do when the engine cannot be built in this memory.

    The workspace must be real memory: the GPU cannot use swap.
    """
    needed = needed_mib(platform, graph_bytes)
    has = memory.available_mib + memory.free_swap_mib
    if has >= needed and memory.available_mib >= platform.workspace_mib:
        return
    raise BudgetError(
        f"building {part} takes about {needed} MiB, of which {platform.workspace_mib} MiB not in "
        f"swap; this machine has {memory.available_mib} MiB free and {memory.free_swap_mib} MiB of "
        f"swap; {', then '.join(advice(memory, needed - has))}, and run this again: finished "
        "engines are kept"
    )


def advice(memory: Memory, missing_mib: int) -> List[str]:
    """Commands that give the builder `missing_mib` more."""
    found = []
    if memory.has_desktop:
        found.append(
            f"stop the desktop (about {_DESKTOP_MIB} MiB): sudo systemctl isolate multi-user.target"
        )
        missing_mib -= _DESKTOP_MIB
    if missing_mib > 0:
        size = -(-missing_mib // _SWAP_STEP_MIB) * _SWAP_STEP_MIB
        found.append(
            f"add swap: sudo fallocate -l {size}M /swapfile && sudo chmod 600 /swapfile && "
            "sudo mkswap /swapfile && sudo swapon /swapfile"
        )
    return found or ["stop other programs"]


def _has_desktop(proc: Path) -> bool:
    for path in proc.glob("[0-9]*/comm"):
        try:
            if path.read_text(encoding="utf-8", errors="replace").strip() in _DESKTOPS:
                return True
        except OSError:
            continue  # the process ended meanwhile
    return False
