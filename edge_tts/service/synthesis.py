"""Sound for a client instead of the sink: Wyoming's `synthesize`, whole and streaming."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Callable, Deque, List, Optional, Protocol, Sequence

from edge_tts.errors import EdgeTTSError
from edge_tts.service import replies
from edge_tts.service.messages import Manner, check_text_length
from edge_tts.service.renderer import Job, Renderer
from edge_tts.service.sentences import SentenceBuffer

if TYPE_CHECKING:
    from edge_tts.audio.chunk import AudioChunk
    from edge_tts.service.codec import Frame

# A client that reads slowly is not rendered for beyond this; one segment may be added to it.
_BACKLOG_BYTES = 256 * 1024


class Client(Protocol):
    """The connection that a request came from."""

    def send(self, frame: "Frame") -> None:
        """Queue a frame; never waits."""

    @property
    def backlog_bytes(self) -> int:
        """Bytes queued and not yet taken by the client."""

    def release(self, uid: str) -> None:
        """The request of this id has ended."""


class Synthesis:
    """One `synthesize`, or one stream from `synthesize-start` to `synthesize-stop`.

    The text is rendered in parts, each as soon as it is complete, by turns with other sessions.
    `on_end` is called once.
    """

    def __init__(
        self,
        uid: str,
        client: Client,
        renderer: Renderer,
        manner: Manner,
        session: str,
        on_end: Callable[["Synthesis"], None],
    ) -> None:
        self.uid = uid
        self._session = session
        self._client = client
        self._renderer = renderer
        self._manner = manner
        self._on_end = on_end
        self._parts: Deque[str] = deque()
        self._text = SentenceBuffer()
        self._n_characters = 0
        self._is_complete = False
        self._job: Optional[Job] = None
        self._n_jobs = 0
        self._rate_hz: Optional[int] = None
        self._unspoken: List[str] = []
        self.is_streamed = False

    def add_text(self, text: str) -> None:
        """More text. Raises InputError `input.text_too_long`."""
        check_text_length(self._n_characters + len(text))
        self._n_characters += len(text)
        self._text.add(text)
        if self.is_streamed:
            self._add_part(self._text.take())

    def complete(self) -> None:
        """No more text follows."""
        self._is_complete = True
        self._add_part(self._text.take_all())

    @property
    def n_text_bytes(self) -> int:
        """Size of the text that is not synthesised yet, the part under way included."""
        return sum(len(part.encode()) for part in (*self._parts, self._text.text, self._under_way))

    @property
    def _under_way(self) -> str:
        return "" if self._job is None else self._job.text

    def cancel(self) -> None:
        """The client is gone."""
        if self._job is not None:
            self._renderer.remove(self._job.uid)
            self._job = None
        self._on_end(self)

    def abandon(self, fault: EdgeTTSError) -> None:
        """End with an error for the client."""
        if self._job is not None:
            self._renderer.remove(self._job.uid)
        self.failed(fault)

    def _add_part(self, text: str) -> None:
        if text.strip():
            self._parts.append(text)
        self._go_on()

    def _go_on(self) -> None:
        if self._job is not None:
            return
        if self._parts:
            self._n_jobs += 1
            uid = f"{self.uid}/{self._n_jobs}"
            text = self._parts.popleft()
            self._job = Job(uid, text, self._manner, self, self._session, is_urgent=False)
            self._renderer.add(self._job)
        elif self._is_complete:
            self._finish()

    def _finish(self) -> None:
        # Clients expect a start before every stop, also when there was nothing to say.
        self._begin(self._rate_hz or 24000)
        self._client.send(replies.audio_stop(self._unspoken))
        if self.is_streamed:
            self._client.send(replies.synthesize_stopped())
        self._on_end(self)

    def _begin(self, rate_hz: int) -> None:
        if self._rate_hz is None:
            self._rate_hz = rate_hz
            self._client.send(replies.audio_start(rate_hz))

    # --- the job's receiver ------------------------------------------------------------------

    def wants_sound(self) -> bool:
        """False while the client has much to read."""
        return self._client.backlog_bytes < _BACKLOG_BYTES

    def segment_begun(self, segment: int, start: int, end: int) -> None:
        """Wyoming has no marks."""

    def sound(self, chunk: "AudioChunk") -> None:
        """Send the samples on as 16-bit PCM."""
        from edge_tts.audio.wav import to_pcm16

        self._begin(chunk.sample_rate_hz)
        pcm = to_pcm16(chunk.samples).tobytes()
        if pcm:
            self._client.send(replies.audio_chunk(chunk.sample_rate_hz, pcm))

    def rendered(self, unspoken: Sequence[str]) -> None:
        """One part is done."""
        self._unspoken += unspoken
        self._job = None
        self._go_on()

    def failed(self, fault: EdgeTTSError) -> None:
        """Tell the client the cause; a stream that has begun is closed properly."""
        self._job = None
        self._client.send(replies.error(fault))
        if self._rate_hz is not None:
            self._client.send(replies.audio_stop())
        if self.is_streamed:
            self._client.send(replies.synthesize_stopped())
        self._on_end(self)
