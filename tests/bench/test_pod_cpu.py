"""Compares the CPU of an encoder pod with the bare pipeline: Xvfb, Chromium, ffmpeg; same page and server."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator

from tests.support.cluster import PROBE, SHOWS, LocalCluster, address
from tests.support.pod_cpu import cores_of
from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient

from onair_crds.contract.program import Program, ProgramVideo
from onair_crds.shapes import Document
from onair_encoder.browser.chromium_command import FLAGS, PROGRAM
from onair_encoder.browser.sandbox import OFF
from onair_encoder.encode.ffmpeg_command import ffmpeg_command
from onair_encoder.paths import START_GATE

SETTLE_S = 5.0
ROUNDS = 5

BARE = """
mkdir -p /tmp/.X11-unix /tmp/run /run/onair/pulse; export HOME=/tmp/run XDG_RUNTIME_DIR=/tmp/run DISPLAY=:0
Xvfb :0 -screen 0 {screen}x24 -nolisten tcp -ac -nocursor +extension MIT-SHM >/dev/null 2>&1 &
pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=no \
  -L "module-native-protocol-unix socket=/run/onair/pulse/native auth-anonymous=1" \
  -L "module-null-sink sink_name=pgm rate=48000 channels=2 norewinds=1" >/dev/null 2>&1 &
while [ ! -S /tmp/.X11-unix/X0 ] || [ ! -S /run/onair/pulse/native ]; do sleep 0.05; done
PULSE_SERVER=unix:/run/onair/pulse/native PULSE_SINK=pgm {chromium} >/dev/null 2>&1 &
sleep 2
mkfifo {gate}; : >{gate} &
exec {ffmpeg} >/dev/null 2>&1
"""
"""The bare pipeline in one container: no agent, no fan-out; ffmpeg sends to the server."""


def requested_millicores(pod: Document) -> int:
    """Sums the CPU requests of a pod's containers."""
    requests = [each["resources"]["requests"]["cpu"] for each in pod["spec"]["containers"]]
    return sum(int(each[:-1]) if each.endswith("m") else int(each) * 1000 for each in requests)


def bare_command(output: str) -> list[str]:
    """Returns the command of the bare pipeline's container.

    Args:
        output: RTMP URL or file that ffmpeg writes FLV to.
    """
    program = Program(
        project="bare",
        broadcast="bare",
        epoch=1,
        composition_url=PROBE,
        video=ProgramVideo(
            width=1280, height=720, framerate=30, bitrate_bps=3_145_728, keyframe_interval_frames=30
        ),
    )
    ffmpeg = ffmpeg_command(program)
    at = ffmpeg.index("fifo") - 1
    to_file = [*ffmpeg[:at], "-map", "1:v", "-map", "2:a", "-f", "flv", "-y", output]
    chromium = [PROGRAM, *(f for f in FLAGS if "debugging" not in f), OFF, "--window-size=1280,720"]
    chromium += ["--user-data-dir=/tmp/profile", PROBE]
    script = BARE.format(
        screen="1280x720",
        chromium=" ".join(f"'{part}'" for part in chromium),
        gate=START_GATE,
        ffmpeg=" ".join(f"'{part}'" for part in to_file),
    )
    return ["bash", "-c", script]


@contextlib.contextmanager
def bare_pipeline(
    cluster: LocalCluster, image: str, output: str, millicores: int = 0
) -> Iterator[tuple[str, str]]:
    """Runs the bare pipeline in a pod; yields its node and uid.

    Args:
        millicores: CPU request, which is also its weight in scheduling.
    """
    empty: dict[str, object] = {"emptyDir": {}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare-pipeline"},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "securityContext": {"runAsUser": 1000, "runAsGroup": 2000, "fsGroup": 2000},
            "containers": [
                {
                    "name": "bare",
                    "image": image,
                    "command": bare_command(output),
                    "resources": {"requests": {"cpu": f"{millicores}m"}},
                    "volumeMounts": [
                        {"name": "tmp", "mountPath": "/tmp"},
                        {"name": "run", "mountPath": "/run/onair"},
                    ],
                }
            ],
            "nodeSelector": {"topology.kubernetes.io/region": "us-east-1"},
            "volumes": [{"name": "tmp", **empty}, {"name": "run", **empty}],
        },
    }
    cluster.kubectl("-n", SHOWS, "apply", "-f", "-", input=json.dumps(pod))
    try:
        cluster.shows("wait", "pod/bare-pipeline", "--for=condition=Ready", "--timeout=60s")
        found = cluster.get("pod", "bare-pipeline")
        yield found["spec"]["nodeName"], found["metadata"]["uid"]
    finally:
        cluster.shows("delete", "pod", "bare-pipeline", "--wait=true")


def test_pod_cpu_is_close_to_the_bare_pipeline(
    facade_client: FacadeClient,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    report: Callable[..., float],
) -> None:
    """Measures both at the same time, so that variations of the machine cancel out.

    Both have the same CPU request, so that the scheduler gives them the same weight.
    """
    show = facade_client.show(PROBE, 1280, 720)
    show.add_destination(**address(path))
    show.start()
    receiver.wait_ready(path, 60)
    found = cluster.get("pod", cluster.encoder_pod(show.project))
    image = found["spec"]["containers"][0]["image"]
    push = address(f"{path}-bare")
    weight = requested_millicores(found)
    with bare_pipeline(cluster, image, f"{push['url']}/{push['key']}", weight) as bare:
        receiver.wait_ready(f"{path}-bare", 60)
        time.sleep(SETTLE_S)
        pod = (found["spec"]["nodeName"], found["metadata"]["uid"])
        rounds = [cores_of(pod, bare) for _ in range(ROUNDS)]
    show.delete()
    report("CPU of the pod, 1280×720@30", [each[0] for each in rounds], "core")
    report("CPU of the bare pipeline", [each[1] for each in rounds], "core")
    ratio = report("CPU of the pod ÷ bare pipeline", [each[0] / each[1] for each in rounds], "×", 1.08)
    assert ratio < 1.08 * 2
