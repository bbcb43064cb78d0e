"""The memory ladder: its rules, and every step forced by real allocations in the worker."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any, Callable

import pytest
from running import PacedOutput, running, until_finished

from edge_tts.errors import BudgetError
from edge_tts.service import memory
from edge_tts.service.budget import Budget, Ladder, Step

ALL = [Step.TRIM, Step.RECYCLE, Step.REFUSE, Step.STOP_LARGEST, Step.RESTART, Step.EXIT]


def test_steps_are_taken_mildest_first_and_none_is_left_out() -> None:
    budget = Budget(1000)
    assert budget.measured(500, 0.0) == []
    assert budget.measured(810, 1.0) == [Step.TRIM]
    assert budget.measured(910, 2.0) == [Step.RECYCLE, Step.REFUSE]
    assert budget.refuses
    assert budget.measured(1000, 3.0) == [Step.STOP_LARGEST, Step.RESTART, Step.EXIT]
    assert budget.peak_mib == 1000
    assert all(n_times == 1 for n_times in budget.taken.values())


def test_a_step_is_left_only_after_some_relief_and_taken_again_after_a_while() -> None:
    budget = Budget(1000, Ladder(again_s=10.0))
    assert budget.measured(905, 0.0) == [Step.TRIM, Step.RECYCLE, Step.REFUSE]
    assert budget.measured(890, 1.0) == []
    assert budget.refuses
    assert budget.measured(865, 2.0) == []
    assert not budget.refuses
    assert budget.measured(865, 10.0) == [Step.TRIM, Step.RECYCLE]
    assert budget.measured(700, 11.0) == []
    assert budget.step is Step.NONE


def test_what_this_process_allocates_is_measured() -> None:
    before = memory.measure()
    ballast = bytearray(b"\1") * (64 * 1024**2)
    after = memory.measure()
    assert 60 < after.total_mib - before.total_mib < 70
    del ballast
    gc.collect()


def test_gpu_memory_of_the_tree_is_read_from_nvmap() -> None:
    text = (
        "CLIENT                        PROCESS      PID        SIZE\n"
        "user                         edge-tts     4711     102400K\n"
        "user                   other process       99       4096K\n"
        "user                         edge-tts     4712        512K\n"
        "total                                               107008K\n"
    )
    assert memory.parse_nvmap_clients(text, [4711, 4712]) == 102912 * 1024


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline_s = time.monotonic() + 60
    while time.monotonic() < deadline_s:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("the condition did not come about")


def base_mib(tmp_path: Path) -> float:
    """What the tree of this test and an idle worker uses."""
    gc.collect()
    with running(tmp_path) as front, front.client() as client:
        front.wait_ready()
        used = wait_for(lambda: memory_with_worker(client))
    return float(used)


def memory_with_worker(client: Any) -> float:
    budget = client.status()["budget"]
    return float(budget["used_mib"]) if budget["worker_mib"] > 10 else 0.0


FAR = 9.0  # a fraction that is never reached


@pytest.mark.parametrize(
    ("step", "ladder"),
    [
        (Step.TRIM, Ladder(recycle=FAR, refuse=FAR, stop_largest=FAR, restart=FAR, exit=FAR)),
        (Step.RECYCLE, Ladder(refuse=FAR, stop_largest=FAR, restart=FAR, exit=FAR)),
        (Step.RESTART, Ladder(exit=FAR)),
    ],
)
def test_memory_held_by_the_worker_is_given_back(
    tmp_path: Path, step: Step, ladder: Ladder
) -> None:
    # Well above the step's fraction: the base, this process, may shrink by a lot meanwhile.
    base = base_mib(tmp_path)
    budget_mib = (base + 250) / 1.15
    output = PacedOutput(tmp_path / "out.pcm", speed=8.0)
    limits = {"budget_mib": budget_mib, "ladder": ladder}
    with running(tmp_path, output, **limits) as front, front.client() as client:
        front.wait_ready()
        # Long enough to be on air still when the memory is measured, where that cuts it.
        is_cut = step > Step.STOP_LARGEST
        text = "GROW250. Then it goes on." + " And on it goes." * (400 if is_cut else 0)
        frames = list(client.speak(text))
        assert frames[-1].data["reason"] == ("budget" if is_cut else "done")
        taken = wait_for(lambda: client.status()["budget"]["taken"][step.name.lower()])
        assert taken >= 1
        # Back to an idle worker's size, by whichever step came first.
        wait_for(lambda: 0 < memory_with_worker(client) < base + 60)
        assert list(client.speak("Still here."))[-1].data["reason"] == "done"
        assert client.status()["worker"]["restarts"] == 0


def test_a_full_service_refuses_with_a_retry_time_then_stops_the_largest_session(
    tmp_path: Path,
) -> None:
    base = base_mib(tmp_path)
    output = PacedOutput(tmp_path / "out.pcm", speed=1.0)
    # The ballast is in this process, so neither trim nor recycle gives anything back.
    limited = running(tmp_path, output, budget_mib=(base + 300) / 0.95)
    with limited as front, front.client() as client, front.client() as other:
        front.wait_ready()
        client.ask("edge-speak", "edge-accepted", text="A long text. " * 50, id="large")
        other.ask("edge-speak", "edge-accepted", text="Small.", id="small")
        ballast = bytearray(b"\1") * (300 * 1024**2)
        assert until_finished(client, "large")[-1].data["reason"] == "budget"
        with pytest.raises(BudgetError) as caught:
            other.ask("edge-speak", "edge-accepted", text="More.")
        assert caught.value.code == "budget.busy"
        assert until_finished(other, "small")[-1].data["reason"] == "done"
        del ballast
        gc.collect()
        wait_for(lambda: not front.front.announcer.refusal)
        assert list(other.speak("Again."))[-1].data["reason"] == "done"


def test_beyond_the_budget_the_service_ends_for_systemd_to_restart(tmp_path: Path) -> None:
    base = base_mib(tmp_path)
    with running(tmp_path, budget_mib=base + 100, drain_s=0.5) as front:
        front.wait_ready()
        ballast = bytearray(b"\1") * (120 * 1024**2)
        wait_for(lambda: front.exit_code is not None)
        del ballast
        assert front.exit_code == 6
