"""A live stream as a player shows it, with its timestamps: decoded as it comes, in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.filter import Graph
from av.video.frame import VideoFrame
from numpy.typing import NDArray

SAMPLE_RATE = 48_000
GRAY = "gray"
ROUNDED_S = 0.002
"""RTMP rounds times to 1 ms."""
Pixels = NDArray[np.uint8]


def filtered(decoded: VideoFrame, *filters: tuple[str, str]) -> Graph:
    """Filters for frames such as this one."""
    graph = Graph()
    source = graph.add_buffer(
        width=decoded.width, height=decoded.height, format=decoded.format, time_base=decoded.time_base
    )
    chain = [graph.add(name, options) for name, options in filters]
    graph.link_nodes(source, *chain, graph.add("buffersink")).configure()
    return graph


def through(graph: Graph, decoded: VideoFrame) -> VideoFrame:
    graph.push(decoded)
    shown = graph.pull()
    assert isinstance(shown, VideoFrame)
    return shown


@dataclass(frozen=True)
class DecodedFrame:
    at_s: float
    """On the clock of the stream, which its audio has, too."""
    decoded_at: float
    """`time.time()`."""
    decoded: VideoFrame

    @cached_property
    def pixels(self) -> Pixels:
        """Height × width × 3; height × width where it is gray."""
        if self.decoded.format.name == GRAY:
            return self.decoded.to_ndarray().astype(np.uint8, copy=False)
        return rgb(self.decoded)


def rgb(decoded: VideoFrame) -> Pixels:
    """A frame's colours, as precise as what is encoded."""
    graph = filtered(decoded, ("scale", "flags=accurate_rnd+full_chroma_int"), ("format", "rgb24"))
    return through(graph, decoded).to_ndarray().astype(np.uint8, copy=False)


@dataclass(eq=False)
class LiveRecording:
    """Is itself alone: of two that were begun at the same frame each ends for itself."""

    frames: list[DecodedFrame] = field(default_factory=list)
    sounds: list[tuple[float, NDArray[np.float32]]] = field(default_factory=list)
    """When each piece begins, and its samples: of the left channel."""

    def sound(self, from_s: float, to_s: float) -> NDArray[np.float32]:
        """What is heard in this time; silence where nothing came."""
        heard = np.zeros(round((to_s - from_s) * SAMPLE_RATE), np.float32)
        for at_s, samples in self.sounds:
            begin = round((at_s - from_s) * SAMPLE_RATE)
            first, last = max(0, -begin), min(len(samples), len(heard) - begin)
            if first < last:
                heard[begin + first : begin + last] = samples[first:last]
        return heard


class LiveView:
    """Use as a context manager."""

    def __init__(self, url: str, gray: tuple[int, int] | None = None) -> None:
        """
        Args:
            gray: width and height of frames without colours, which are little work beside a measurement.
        """
        self._url, self._gray = url, gray
        self._graph: Graph | None = None
        self._ending = threading.Event()
        self._news = threading.Condition()
        self._latest: DecodedFrame | None = None
        self._recordings: list[LiveRecording] = []
        self._failure: BaseException | None = None
        self._heard_until_s = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.frame()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join(10)

    def connect_again(self, timeout_s: float = 30.0) -> None:
        """Goes on with the stream that follows one that has ended."""
        deadline = time.monotonic() + timeout_s
        self._thread.join(timeout_s)
        while True:
            self._failure, self._graph, self._heard_until_s = None, None, 0.0
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
            try:
                self.frame()
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def frame(self, timeout_s: float = 20.0) -> DecodedFrame:
        """The next frame."""
        with self._news:
            before = self._latest
            arrived = self._news.wait_for(lambda: self._latest is not before or self._failure, timeout_s)
        assert arrived, f"no frame within {timeout_s} s: {self._failure}"
        assert self._latest, f"the stream ended: {self._failure}"
        assert self._latest is not before, f"the stream ended: {self._failure}"
        return self._latest

    def until(self, what: str, check: Callable[[Pixels], object], timeout_s: float = 10.0) -> DecodedFrame:
        """The first frame from now on of which the condition holds."""
        deadline = time.monotonic() + timeout_s
        while True:
            frame = self.frame()
            if check(frame.pixels):
                return frame
            assert time.monotonic() < deadline, f"not seen within {timeout_s} s: {what}; {self._seen(frame)}"

    def first(
        self, recording: LiveRecording, check: Callable[[Pixels], object], timeout_s: float = 10.0
    ) -> DecodedFrame:
        """The first frame of a recording that goes on, of which the condition holds."""
        deadline, looked_at = time.monotonic() + timeout_s, 0
        while True:
            for frame in recording.frames[looked_at:]:
                looked_at += 1
                if check(frame.pixels):
                    return frame
            assert time.monotonic() < deadline, f"not seen within {timeout_s} s: {self._seen(self.frame())}"
            self._next_after(recording, looked_at, deadline)

    def _next_after(self, recording: LiveRecording, count: int, deadline: float) -> None:
        """Waits until a recording has more frames than this."""
        with self._news:
            self._news.wait_for(
                lambda: len(recording.frames) > count or self._failure, deadline - time.monotonic()
            )
        assert not self._failure, f"the stream ended: {self._failure}"

    def _seen(self, frame: DecodedFrame) -> str:
        """The colours of a frame, coarsely."""
        height, width = frame.pixels.shape[:2]
        return str(frame.pixels[height // 8 :: height // 4, width // 8 :: width // 4].tolist())

    @contextmanager
    def recording(self) -> Iterator[LiveRecording]:
        """Keeps what comes for as long as the context lasts."""
        recording = LiveRecording()
        with self._news:
            self._recordings.append(recording)
        try:
            yield recording
        finally:
            with self._news:
                self._recordings.remove(recording)

    def watch(self, seconds: float) -> LiveRecording:
        """The next seconds of the stream."""
        with self.recording() as recording:
            end_s = self.frame().at_s + seconds
            while self.frame().at_s < end_s:
                pass
        return recording

    def _run(self) -> None:
        try:
            with av.open(self._url, options={"analyzeduration": "500000"}, timeout=20) as container:
                resampler = AudioResampler(format="fltp", layout="stereo", rate=SAMPLE_RATE)
                for frame in container.decode(video=0, audio=0):
                    if self._ending.is_set():
                        return
                    with self._news:
                        if isinstance(frame, VideoFrame):
                            self._show(frame)
                        elif isinstance(frame, AudioFrame):
                            self._play(frame, resampler)
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            self._failure = error
        else:
            self._failure = EOFError()
        finally:
            with self._news:
                self._news.notify_all()

    def _show(self, decoded: VideoFrame) -> None:
        assert decoded.time is not None
        at_s, decoded_at = decoded.time, time.time()
        if self._gray:
            self._graph = self._graph or filtered(
                decoded, ("scale", "{}:{}:flags=area".format(*self._gray)), ("format", GRAY)
            )
            decoded = through(self._graph, decoded)
        self._latest = DecodedFrame(at_s, decoded_at, decoded)
        for each in self._recordings:
            each.frames.append(self._latest)
        self._news.notify_all()

    def _play(self, decoded: AudioFrame, resampler: AudioResampler) -> None:
        assert decoded.time is not None
        at_s = beginning(decoded.time, self._heard_until_s)
        for piece in resampler.resample(decoded):
            samples = piece.to_ndarray()[0].astype(np.float32)
            for each in self._recordings:
                each.sounds.append((at_s, samples))
            at_s += len(samples) / SAMPLE_RATE
        self._heard_until_s = at_s


def beginning(at_s: float, until_s: float) -> float:
    """When a piece of sound begins that says when, and follows one until then: without a gap of rounding.

    A tone of 440 Hz that steps by 0.7 ms within a window seems to be 4 dB quieter.
    """
    return until_s if abs(at_s - until_s) < ROUNDED_S else at_s
