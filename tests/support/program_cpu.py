"""What programs use: those of a pod that runs in Docker, or all on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.docker import docker
from tests.support.running_pod import RunningPod

SCRIPT = """
import collections, json, os
used, tick_s = collections.Counter(), 1 / os.sysconf('SC_CLK_TCK')
for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
        words = open(f'/proc/{pid}/cmdline').read().replace('\\0', ' ').split()
        times = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    except OSError:
        continue
    if words and int(pid) != os.getpid():
        kind = next((word[7:] for word in words if word.startswith('--type=')), '')
        if '-m' in words[:-1]:
            kind = words[words.index('-m') + 1]
        used[f'{os.path.basename(words[0])} {kind}'.strip()] += %s
print(json.dumps(used))
"""
"""Chromium's processes have their type as an argument, Python's their module."""
CPU_S = SCRIPT % "(int(times[11]) + int(times[12])) * tick_s"
MAJOR_FAULTS = SCRIPT % "int(times[9])"


@contextmanager
def programs_cores(pod: RunningPod | None = None) -> Iterator[Counter[str]]:
    """Gives the cores that each program has used, of a pod or of all, once the context has ended."""
    cores: Counter[str] = Counter()
    before, began_s = _used(CPU_S, pod), time.monotonic()
    yield cores
    after, took_s = _used(CPU_S, pod), time.monotonic() - began_s
    cores.update({name: (used - before[name]) / took_s for name, used in after.items()})


@contextmanager
def programs_major_faults(pod: RunningPod | None = None) -> Iterator[Counter[str]]:
    """Gives how often each program had to wait for a page of memory from the disk."""
    faults: Counter[str] = Counter()
    before = _used(MAJOR_FAULTS, pod)
    yield faults
    faults.update({name: used - before[name] for name, used in _used(MAJOR_FAULTS, pod).items()})


def _used(script: str, pod: RunningPod | None) -> Counter[str]:
    if pod is None:
        return Counter(json.loads(subprocess.check_output([sys.executable, "-c", script])))
    used: Counter[str] = Counter()
    for each in pod.containers:
        used.update(json.loads(docker("exec", each, "python3", "-c", script)))
    return used
