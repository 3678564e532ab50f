"""The commands of the guide for those who send."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod

pytestmark = pytest.mark.media

GUIDE = Path(__file__).parents[3] / "docs/guide/send.md"
COMMANDS = re.findall(r"^    (ffmpeg (?:.*\\\n)*.*)$", GUIDE.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / "video.mp4"
    command = [
        "ffmpeg",
        "-loglevel",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=320x180:rate=30:duration=20",
    ]
    command += ["-f", "lavfi", "-i", "sine=duration=20", "-c:v", "libx264", "-preset", "ultrafast", str(path)]
    subprocess.run(command, check=True)
    return path


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_the_commands_for_ffmpeg_bring_a_source_in(
    pod: IngestPod, follower: Follower, key: str, video: Path, protocol: str
) -> None:
    (command,) = (each for each in COMMANDS if f"{protocol}://" in each)
    places = {"VIDEO": str(video), "HOST:1935": f"127.0.0.1:{pod.rtmp_port}"}
    places |= {"HOST:8890": f"127.0.0.1:{pod.srt_port}", "KEY": key}
    for place, value in places.items():
        command = command.replace(place, value)
    arguments = shlex.split(command.replace("\\\n", " "))
    with subprocess.Popen([*arguments, "-nostdin", "-loglevel", "error"]) as process:
        try:
            assert follower.flowing(key).state.protocol == protocol
        finally:
            process.kill()
