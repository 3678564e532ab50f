"""A program that delivers a file in real time, as the agent does; the bench of destinations runs it.

Reads lines of JSON from standard input, each the list of wanted destinations; prints for each the time
(wall clock, seconds) at which they were passed to the delivery.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from onair_crds.contract.program import ProgramDestination
from onair_crds.media.flv import FlvReader
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.delivery import Delivery


async def feed(fan_out: FanOut, file: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", file, "-c", "copy"),
        *("-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    reader = FlvReader()
    fan_out.stream_begins()
    try:
        while data := await process.stdout.read(262144):
            for packet in reader.feed(data):
                fan_out.put(packet)
    finally:
        process.kill()


async def main() -> None:
    fan_out = FanOut()
    delivery = Delivery(fan_out, lambda: None)
    feeding = asyncio.create_task(feed(fan_out, sys.argv[1]))
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        wanted = [ProgramDestination.model_validate(each) for each in json.loads(line)]
        at = time.time()
        delivery.want(wanted)
        print(at, flush=True)
    await delivery.finish()
    feeding.cancel()
    await asyncio.gather(feeding, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
