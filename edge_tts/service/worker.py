"""The worker process: holds the voice, renders segments on order, and may be killed at any time.

One thread reads orders, so that a cancel or the front's disappearance is noticed while the voice
computes; the main thread renders. A worker that no longer has a front ends at once.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import queue
import socket
import sys
import threading
import time
from collections import OrderedDict
from importlib import import_module
from pathlib import Path
from typing import List

from edge_tts.errors import EdgeTTSError
from edge_tts.service.codec import Decoder, encode
from edge_tts.service.script import Script, Source
from edge_tts.service.worker_link import (
    LIMITS,
    Begun,
    Cancel,
    Failed,
    Order,
    Piece,
    Ping,
    Pong,
    Ready,
    Render,
    Rendered,
    Reply,
    order_from,
    to_frame,
)

# As many texts as are usually rendered by turns; the others are divided again.
_MAX_SCRIPTS = 16
_SIGN_OF_LIFE_S = 1.0
_READ_BYTES = 64 * 1024
# The front is small and must outlive the worker when the system runs out of memory.
_OOM_SCORE = 500


class Inbox:
    """Orders received so far. The reading thread fills it; cancels take effect on arrival."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._orders: "queue.Queue[Order]" = queue.Queue()
        self.cancelled = 0
        """Every request up to this number is cancelled."""

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="orders", daemon=True).start()

    def next(self) -> Order:
        """Wait for an order."""
        return self._orders.get()

    def _read(self) -> None:
        decoder = Decoder(LIMITS)
        try:
            while True:
                data = self._link.recv(_READ_BYTES)
                if not data:
                    break
                for frame in decoder.feed(data):
                    self._take(order_from(frame))
        finally:
            # The voice may be deep in native code: without a front there is nothing to clean up.
            os._exit(0)

    def _take(self, order: Order) -> None:
        if isinstance(order, Cancel):
            self.cancelled = max(self.cancelled, order.request)
        else:
            self._orders.put(order)


class Worker:
    """Carries out orders one by one."""

    def __init__(self, link: socket.socket, inbox: Inbox, source: Source) -> None:
        self._link = link
        self._inbox = inbox
        self._source = source
        self._told = source.facts
        self._scripts: "OrderedDict[str, Script]" = OrderedDict()

    def run(self) -> None:
        """Serve orders until the process ends."""
        self._tell_facts()
        while True:
            order = self._inbox.next()
            if isinstance(order, Render):
                self._serve(order)
            elif isinstance(order, Ping):
                self._send(Pong(order.request))
            else:
                self._trim()

    def _tell_facts(self) -> None:
        self._told = self._source.facts
        self._send(Ready(self._told))

    def _serve(self, order: Render) -> None:
        try:
            self._render(order)
        except EdgeTTSError as error:
            self._fail(order, error.code, str(error))
        except Exception as error:  # noqa: BLE001 - the request boundary: one text must not end all
            self._fail(order, "internal", f"{type(error).__name__}: {error}")

    def _fail(self, order: Render, code: str, message: str) -> None:
        # A generator that has raised is over: asked again, it would pretend that the text ended.
        self._scripts.pop(order.uid, None)
        self._send(Failed(order.request, code, message))

    def _render(self, order: Render) -> None:
        script = self._script(order)
        segment = script.segment(order.segment)
        if segment is None:
            self._send(Rendered(order.request, exhausted=True, unspoken=script.unspoken()))
            return
        self._send(Begun(order.request, segment.span.start, segment.span.end))
        signed_s = time.monotonic()
        for chunk in self._source.render(segment, order.text, order.manner):
            if self._inbox.cancelled >= order.request:
                break
            if len(chunk.samples) or chunk.is_final:
                self._send(Piece(order.request, chunk))
            elif time.monotonic() - signed_s > _SIGN_OF_LIFE_S:
                # A slow voice is at work: it must not be taken for one that hangs.
                self._send(Pong(order.request))
                signed_s = time.monotonic()
        if self._source.facts != self._told:
            self._tell_facts()
        self._send(Rendered(order.request, exhausted=False))

    def _script(self, order: Render) -> Script:
        script = self._scripts.pop(order.uid, None)
        # An id may be used again for another text once its utterance has ended.
        if script is None or not script.is_of(order.text, order.manner):
            script = Script(self._source, order.text, order.manner)
        self._scripts[order.uid] = script
        while len(self._scripts) > _MAX_SCRIPTS:
            self._scripts.popitem(last=False)
        return script

    def _trim(self) -> None:
        self._scripts.clear()
        self._source.trim()
        gc.collect()
        _return_free_memory()

    def _send(self, reply: Reply) -> None:
        self._link.sendall(encode(to_frame(reply)))


def _return_free_memory() -> None:
    """Ask the C library to hand free pages back; musl has no such call and needs none."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _volunteer_for_oom_killer() -> None:
    try:
        Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE))
    except OSError:
        # Not Linux, or a container that forbids it: then the kernel chooses by size, which fits.
        return


def _load_source(name: str, options: List[str]) -> Source:
    module, _, attribute = name.partition(":")
    source: Source = getattr(import_module(module), attribute)(options)
    return source


def main(argv: List[str]) -> int:
    """Entry point of the worker process: `--fd N --source MODULE:CALLABLE [OPTION...]`."""
    parser = argparse.ArgumentParser(prog="edge-tts worker")
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("options", nargs="*")
    args = parser.parse_args(argv)
    _volunteer_for_oom_killer()
    link = socket.socket(fileno=args.fd)
    inbox = Inbox(link)
    inbox.start()
    try:
        source = _load_source(args.source, args.options)
    except EdgeTTSError as error:
        link.sendall(encode(to_frame(Failed(0, error.code, str(error)))))
        return error.exit_code
    Worker(link, inbox, source).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
