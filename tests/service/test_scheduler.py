"""The scheduler as a state machine: rules by example, invariants over random event orders."""

from __future__ import annotations

from typing import Dict, List, Optional, Set

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from edge_tts.errors import BudgetError
from edge_tts.service.scheduler import Scheduler
from edge_tts.service.scheduling import (
    Action,
    ClassRule,
    Continue,
    Finish,
    Halt,
    Hold,
    Interrupted,
    Policy,
    Priority,
    Reason,
    Selector,
    Start,
    Ticket,
)


def ticket(uid: str, priority: Priority = Priority.MESSAGE, **fields: object) -> Ticket:
    return Ticket(uid, str(fields.pop("session", "s")), priority, **fields)  # type: ignore[arg-type]


def test_an_idle_scheduler_starts_what_it_gets() -> None:
    assert Scheduler(Policy()).submit(ticket("a"), 0.0) == [Start("a", 0)]


# CASES A12
def test_a_more_urgent_utterance_interrupts_and_the_cut_one_resumes_at_its_segment() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("message"), 0.0)
    scheduler.progressed("message", 3)
    alert = ticket("alert", Priority.ALERT)
    assert scheduler.submit(alert, 1.0) == [Halt("message"), Start("alert", 0)]
    assert scheduler.completed("alert", Reason.DONE, 2.0) == [
        Finish("alert", Reason.DONE),
        Start("message", 3),
    ]


@pytest.mark.parametrize(
    ("rule_", "after"),
    [
        (Interrupted.RESUME, [Finish("alert", Reason.DONE), Start("m", 2)]),
        (Interrupted.RESTART, [Finish("alert", Reason.DONE), Start("m", 0)]),
        (Interrupted.DROP, [Finish("alert", Reason.DONE)]),
    ],
)
def test_each_interruption_rule(rule_: Interrupted, after: List[Action]) -> None:
    classes = {priority: ClassRule(4, rule_) for priority in Priority}
    scheduler = Scheduler(Policy(classes))
    scheduler.submit(ticket("m"), 0.0)
    scheduler.progressed("m", 2)
    cut = scheduler.submit(ticket("alert", Priority.ALERT), 1.0)
    assert (Finish("m", Reason.PREEMPTED) in cut) == (rule_ is Interrupted.DROP)
    assert scheduler.completed("alert", Reason.DONE, 2.0) == after


# CASES A12
def test_a_less_urgent_utterance_never_interrupts() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("alert", Priority.ALERT), 0.0)
    assert scheduler.submit(ticket("message"), 0.0) == []
    assert scheduler.submit(ticket("alert2", Priority.ALERT), 0.0) == []


# CASES A12
def test_a_late_instruction_is_dropped_and_reported() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("long"), 0.0)
    scheduler.submit(ticket("turn left", expires_at_s=5.0), 0.0)
    assert scheduler.next_expiry_s() == 5.0
    assert scheduler.tick(4.9) == []
    assert scheduler.tick(5.0) == [Finish("turn left", Reason.EXPIRED)]
    assert scheduler.next_expiry_s() is None


def test_an_interrupted_utterance_may_expire_before_it_resumes() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("m", expires_at_s=5.0), 0.0)
    scheduler.submit(ticket("alert", Priority.ALERT), 1.0)
    assert scheduler.completed("alert", Reason.DONE, 6.0) == [
        Finish("alert", Reason.DONE),
        Finish("m", Reason.EXPIRED),
    ]


# CASES A12
def test_a_key_replaces_the_waiting_one_in_its_place() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("now"), 0.0)
    scheduler.submit(ticket("old", key="k"), 0.0)
    scheduler.submit(ticket("other"), 0.0)
    assert scheduler.submit(ticket("new", key="k"), 0.0) == [Finish("old", Reason.REPLACED)]
    assert [t.uid for t in scheduler.waiting()] == ["new", "other"]


def test_a_key_cuts_the_one_on_air_unless_that_is_more_urgent() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("old", Priority.NAVIGATION, key="k"), 0.0)
    assert scheduler.submit(ticket("late", Priority.MESSAGE, key="k"), 0.0) == []
    assert scheduler.submit(ticket("new", Priority.NAVIGATION, key="k"), 0.0) == [
        Halt("old"),
        Finish("old", Reason.REPLACED),
        Finish("late", Reason.REPLACED),
        Start("new", 0),
    ]


def test_bounds_refuse_with_a_typed_error_and_change_nothing() -> None:
    classes = {priority: ClassRule(3, Interrupted.RESUME) for priority in Priority}
    scheduler = Scheduler(Policy(classes, session_depth=2))
    for index in range(3):
        scheduler.submit(ticket(str(index), session="greedy"), 0.0)
    with pytest.raises(BudgetError) as caught:
        scheduler.submit(ticket("3", session="greedy"), 0.0)
    assert caught.value.code == "budget.session_full"
    scheduler.submit(ticket("4", session="modest"), 0.0)
    with pytest.raises(BudgetError) as caught:
        scheduler.submit(ticket("5", session="third"), 0.0)
    assert caught.value.code == "budget.queue_full"
    assert [t.uid for t in scheduler.waiting()] == ["1", "4", "2"]


def test_a_full_queue_still_takes_a_replacement() -> None:
    classes = {priority: ClassRule(1, Interrupted.RESUME) for priority in Priority}
    scheduler = Scheduler(Policy(classes))
    scheduler.submit(ticket("now"), 0.0)
    scheduler.submit(ticket("old", key="k"), 0.0)
    assert scheduler.submit(ticket("new", key="k"), 0.0) == [Finish("old", Reason.REPLACED)]


def test_sessions_take_turns_and_newcomers_do_not_starve_a_waiting_session() -> None:
    scheduler = Scheduler(Policy())
    for index in range(4):
        scheduler.submit(ticket(f"a{index}", session="a"), 0.0)
    order = []
    for index in range(4):
        scheduler.submit(ticket(f"one-shot {index}", session=f"one-shot {index}"), 0.0)
        on_air = scheduler.on_air
        assert on_air is not None
        order.append(on_air.uid)
        scheduler.completed(on_air.uid, Reason.DONE, 0.0)
    assert order == ["a0", "a1", "one-shot 0", "a2"]


def test_pause_holds_all_but_alerts_and_resume_goes_on() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("m"), 0.0)
    assert scheduler.pause() == [Hold("m")]
    assert scheduler.pause() == []
    assert scheduler.submit(ticket("n", Priority.NAVIGATION), 0.0) == []
    assert scheduler.resume(0.0) == [Halt("m"), Start("n", 0)]
    scheduler.completed("n", Reason.DONE, 0.0)
    scheduler.pause()
    assert scheduler.resume(0.0) == [Continue("m")]


def test_an_alert_speaks_through_a_pause() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("m"), 0.0)
    scheduler.pause()
    alert = scheduler.submit(ticket("alert", Priority.ALERT), 0.0)
    assert alert == [Halt("m"), Start("alert", 0)]
    assert scheduler.completed("alert", Reason.DONE, 0.0) == [Finish("alert", Reason.DONE)]
    assert scheduler.resume(0.0) == [Start("m", 0)]


@pytest.mark.parametrize(
    ("selector", "left"),
    [
        (Selector(uid="b"), ["a", "c", "d"]),
        (Selector(session="s1"), ["c", "d"]),
        (Selector(key="k"), ["a", "b", "d"]),
        (Selector(owner="conn"), ["a", "b", "c"]),
        (Selector(session="s1", key="k"), ["a", "b", "c", "d"]),
        (Selector(), []),
    ],
)
# CASES L07
def test_stop_by_each_selector(selector: Selector, left: List[str]) -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("a", session="s1"), 0.0)
    scheduler.submit(ticket("b", session="s1"), 0.0)
    scheduler.submit(ticket("c", session="s2", key="k"), 0.0)
    scheduler.submit(ticket("d", session="s3", owner="conn"), 0.0)
    actions = scheduler.stop(selector, Reason.STOPPED, 0.0)
    ended = {action.uid for action in actions if isinstance(action, Finish)}
    assert ended == {"a", "b", "c", "d"} - set(left)
    on_air = scheduler.on_air
    live = [t.uid for t in scheduler.waiting()] + ([on_air.uid] if on_air else [])
    assert sorted(live) == left


def test_a_completion_that_crossed_a_stop_is_ignored() -> None:
    scheduler = Scheduler(Policy())
    scheduler.submit(ticket("a"), 0.0)
    scheduler.stop(Selector(uid="a"), Reason.STOPPED, 0.0)
    assert scheduler.completed("a", Reason.DONE, 0.0) == []


DEPTH = 3
CLASSES = {
    Priority.ALERT: ClassRule(DEPTH, Interrupted.RESTART),
    Priority.NAVIGATION: ClassRule(DEPTH, Interrupted.RESTART),
    Priority.MESSAGE: ClassRule(DEPTH, Interrupted.RESUME),
    Priority.BACKGROUND: ClassRule(DEPTH, Interrupted.DROP),
}
SESSIONS = st.sampled_from(["s1", "s2", "s3"])


class SchedulerMachine(RuleBasedStateMachine):
    """Drives a scheduler with random events and replays its actions on a model of the sink."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = Scheduler(Policy(CLASSES, session_depth=4))
        self.now_s = 0.0
        self.tickets: Dict[str, Ticket] = {}
        self.ended: Set[str] = set()
        self.sounding: Optional[str] = None
        self.held = False
        self.segments: Dict[str, int] = {}

    def replay(self, actions: List[Action]) -> None:
        for action in actions:
            getattr(self, f"do_{type(action).__name__.lower()}")(action)

    def do_start(self, action: Start) -> None:
        assert self.sounding is None
        assert action.uid not in self.ended
        expires_at_s = self.tickets[action.uid].expires_at_s
        assert expires_at_s is None or expires_at_s > self.now_s
        assert action.segment in (0, self.segments[action.uid])
        self.sounding, self.held = action.uid, False

    def do_halt(self, action: Halt) -> None:
        assert self.sounding == action.uid
        self.sounding = None

    def do_hold(self, action: Hold) -> None:
        assert self.sounding == action.uid
        assert not self.held
        self.held = True

    def do_continue(self, action: Continue) -> None:
        assert self.sounding == action.uid
        assert self.held
        self.held = False

    def do_finish(self, action: Finish) -> None:
        assert action.uid not in self.ended
        if action.reason is Reason.DONE:
            assert self.sounding == action.uid
            self.sounding = None
        assert self.sounding != action.uid
        self.ended.add(action.uid)

    @rule(
        priority=st.sampled_from(list(Priority)),
        session=SESSIONS,
        key=st.sampled_from([None, None, "k1", "k2"]),
        ttl_s=st.sampled_from([None, 0.0, 1.0, 5.0]),
    )
    def submit(
        self, priority: Priority, session: str, key: Optional[str], ttl_s: Optional[float]
    ) -> None:
        uid = f"u{len(self.tickets)}"
        expires_at_s = None if ttl_s is None else self.now_s + ttl_s
        new = Ticket(uid, session, priority, key, expires_at_s)
        before = self.scheduler.waiting()
        try:
            actions = self.scheduler.submit(new, self.now_s)
        except BudgetError:
            assert self.scheduler.waiting() == before
            return
        self.tickets[uid] = new
        self.segments[uid] = 0
        self.replay(actions)

    @rule(
        selector=st.builds(
            Selector, session=st.none() | SESSIONS, key=st.sampled_from([None, "k1", "k2"])
        )
    )
    def stop(self, selector: Selector) -> None:
        self.replay(self.scheduler.stop(selector, Reason.STOPPED, self.now_s))

    @rule(session=SESSIONS)
    def close_session(self, session: str) -> None:
        self.replay(self.scheduler.stop(Selector(session=session), Reason.CLOSED, self.now_s))
        assert all(t.session != session for t in self.scheduler.waiting())

    @rule()
    def complete(self) -> None:
        if self.sounding is not None and not self.held:
            self.replay(self.scheduler.completed(self.sounding, Reason.DONE, self.now_s))

    @rule()
    def progress(self) -> None:
        if self.sounding is not None and not self.held:
            self.segments[self.sounding] += 1
            self.scheduler.progressed(self.sounding, self.segments[self.sounding])

    @rule()
    def pause(self) -> None:
        self.replay(self.scheduler.pause())

    @rule()
    def resume(self) -> None:
        self.replay(self.scheduler.resume(self.now_s))

    @rule(passed_s=st.sampled_from([0.1, 1.0, 4.0]))
    def tick(self, passed_s: float) -> None:
        self.now_s += passed_s
        self.replay(self.scheduler.tick(self.now_s))
        waiting = self.scheduler.waiting()
        assert all(t.expires_at_s is None or t.expires_at_s > self.now_s for t in waiting)

    @invariant()
    def sink_and_scheduler_agree(self) -> None:
        on_air = self.scheduler.on_air
        assert (on_air.uid if on_air else None) == self.sounding

    @invariant()
    def every_utterance_is_live_or_ended_never_both(self) -> None:
        live = {t.uid for t in self.scheduler.waiting()}
        if self.sounding is not None:
            assert self.sounding not in live
            live.add(self.sounding)
        assert live | self.ended == set(self.tickets)
        assert not live & self.ended

    @invariant()
    def nothing_waits_that_should_speak(self) -> None:
        ready = [
            t.priority
            for t in self.scheduler.waiting()
            if not self.scheduler.paused or t.priority is Priority.ALERT
        ]
        if self.sounding is None:
            assert ready == []
        else:
            assert all(priority >= self.tickets[self.sounding].priority for priority in ready)

    @invariant()
    def only_alerts_sound_while_paused(self) -> None:
        if self.scheduler.paused and self.sounding is not None:
            assert self.held or self.tickets[self.sounding].priority is Priority.ALERT

    @invariant()
    def queues_are_bounded_and_keys_unique(self) -> None:
        waiting = self.scheduler.waiting()
        for priority in Priority:
            # One interrupted utterance may wait beyond the depth.
            assert sum(t.priority is priority for t in waiting) <= DEPTH + 1
        keys = [t.key for t in waiting if t.key is not None]
        assert len(keys) == len(set(keys))

    def teardown(self) -> None:
        self.replay(self.scheduler.stop(Selector(), Reason.SHUTDOWN, self.now_s))
        assert self.ended == set(self.tickets)


TestSchedulerMachine = SchedulerMachine.TestCase
TestSchedulerMachine.settings = settings(
    max_examples=150, stateful_step_count=60, deadline=None, derandomize=True
)
