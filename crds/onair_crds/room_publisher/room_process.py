"""The process of one room, a program of its own: packets in by a pipe, audio and video to the room.

A native library that fails must not take down who publishes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from onair_crds.media.flv import VIDEO
from onair_crds.room_publisher.pipe import (
    Gone,
    Joined,
    Message,
    encode_message,
    read_packets,
    read_settings,
)
from onair_crds.room_publisher.playout import Playout
from onair_crds.room_publisher.recode import Recoder
from onair_crds.room_publisher.room_client import PREVIEW
from onair_crds.room_publisher.room_providers import RoomSession, room_of
from onair_crds.room_publisher.video_flow import VideoFlow
from onair_crds.session_error import SessionError

FIRST_PROGRESS_S, PROGRESS_S = 0.05, 0.25
LEAVE_S = 2.0
JOIN_S = 9.0
PREVIEW_NICENESS = 10
"""Of a preview in its room: it has what others leave of the CPU, first of all who receives."""
PREVIEW_GROWTH_BYTES = 256 * 2**20
"""What a preview may take in addition to what it has as it joins: whoever publishes decides. Frames
of 4K need some 100 MiB."""


def _report(message: Message) -> None:
    os.write(sys.stdout.fileno(), encode_message(message))


async def _feed(playout: Playout, reader: asyncio.StreamReader, recoder: Recoder | None) -> None:
    async for packet in read_packets(reader):
        if recoder is None:
            await playout.take(packet)
            continue
        now_s = time.monotonic()
        if recoder.recodes and packet.type == VIDEO:
            # In a thread: it takes longer than audio may wait
            packets = await asyncio.to_thread(recoder.packets, packet, now_s)
        else:
            packets = recoder.packets(packet, now_s)
        for each in packets:
            await playout.take(each)


async def _report_progress(room: RoomSession, playout: Playout) -> None:
    flow = VideoFlow()
    while True:
        progress = await room.progress()
        playout.flowing = progress.video_bytes > 0
        held_s = flow.look(time.monotonic(), playout.frames, progress.frames_sent)
        _report(replace(progress, frames_dropped=flow.dropped, held_s=held_s))
        await asyncio.sleep(PROGRESS_S if progress.video_bytes else FIRST_PROGRESS_S)


async def _serve(reader: asyncio.StreamReader) -> None:
    """
    Raises:
        SessionError: the session could not be opened, or has ended.
    """
    room = room_of(await read_settings(reader))
    try:
        async with asyncio.timeout(JOIN_S):
            await room.join()
    except TimeoutError:
        raise SessionError("no response from the server") from None
    if _is_preview():
        # Not before: on a busy machine none would have joined in time, and each attempt costs another start
        _step_back()
        _bound_memory()
    _report(Joined())
    playout = Playout(room)
    recoder = Recoder(room.wants_keyframe) if _is_preview() else None
    work = [
        asyncio.create_task(each)
        for each in (_feed(playout, reader, recoder), playout.play(), _report_progress(room, playout))
    ]
    ends: list[asyncio.Future[Any]] = []
    ends += [*work, room.lost]
    done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for task in work:
        task.cancel()
    if room.lost in done:
        raise room.lost.result()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_S):
            await room.leave()
    for end in done:
        end.result()


def _is_preview() -> bool:
    return sys.argv[1:] == [PREVIEW]


def _step_back() -> None:
    """Lowers the priority of all threads. Linux has one for each, and a new thread that of who began it."""
    lower = os.nice(PREVIEW_NICENESS)
    lowered: set[str] = set()
    while left := {thread.name for thread in Path("/proc/self/task").iterdir()} - lowered:
        for thread in left:
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, int(thread), lower)
        lowered |= left


def _bound_memory() -> None:
    """Lets the process take PREVIEW_GROWTH_BYTES in addition; beyond, decoding fails, or it ends."""
    status = Path("/proc/self/status").read_text()
    most = int(status.split("VmData:")[1].split()[0]) * 1024 + PREVIEW_GROWTH_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


async def run() -> None:
    """Publishes what comes by standard input into a room until that ends; reports to standard output."""
    reader = asyncio.StreamReader(limit=2**20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        await _serve(reader)
    except SessionError as error:
        _report(Gone.because(error))
    except Exception as error:  # noqa: BLE001  what a library says may hold the token
        _report(Gone(f"internal error ({type(error).__name__})"))
    sys.stdout.flush()
    # The library's own threads are not waited for.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(run())
