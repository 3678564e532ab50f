"""Captures go first where others want the processor, too: the screen is read in time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support import time_slices
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.pod_pair import PodPair, programme
from tests.support.time_slices import slices_are_kept

from onair_encoder.process.short_slices import SLICE_NS

pytestmark = pytest.mark.media

LOOKS = 20
SCRIPT = f"""
{Path(time_slices.__file__).read_text()}
import json, os, sys, time
program, argument = sys.argv[1:]
found = {{}}
for process in filter(str.isdigit, os.listdir('/proc')):
    try:
        words = open(f'/proc/{{process}}/cmdline').read().split('\\0')
        if os.path.basename(words[0]) != program or argument not in words:
            continue
        for thread in map(int, os.listdir(f'/proc/{{process}}/task')):
            found[thread] = [slice_ns(thread), 0]
        for _ in range({LOOKS}):
            for thread in found:
                found[thread][1] += 'nanosleep' in open(f'/proc/{{process}}/task/{{thread}}/wchan').read()
            time.sleep(0.0107)
    except (OSError, AssertionError):  # it has ended meanwhile
        pass
print(json.dumps(found))
""".lstrip()
"""Prints, for each thread of a program, its slice, and how often it was found asleep until a moment."""


def slices_and_sleeps(pair: PodPair, container: str, program: str, argument: str) -> list[tuple[int, int]]:
    words = ["exec", f"{pair.name}-{container}", "python3", "-c", SCRIPT, program, argument]
    return [(slice_ns, sleeps) for slice_ns, sleeps in json.loads(docker(*words)).values()]


@pytest.mark.skipif(not slices_are_kept(), reason="Linux before 6.12 has no slices of a thread's own")
def test_who_waits_for_captures_has_short_slices_also_after_a_restart(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    def are_short() -> bool:
        """Of the threads that read the inputs alone, of which one sleeps until the next capture is due."""
        found = slices_and_sleeps(pair, "encoder", "ffmpeg", "x11grab")
        short = [sleeps for slice_ns, sleeps in found if slice_ns == SLICE_NS]
        return len(found) > len(short) == 2 and max(short) > LOOKS / 2

    pair.put(programme(page, far_end, "slices"))
    pair.wait_for(are_short, "captures go first")
    assert pair.kill("encoder", "x11grab")
    pair.wait_for(are_short, "those of the next one do")
    ((screen, _), *_) = slices_and_sleeps(pair, "browser", "Xvfb", "-screen")
    assert screen == SLICE_NS
