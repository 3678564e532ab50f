"""Measures the CPU time of pods by their cgroups on the local cluster's nodes."""

from __future__ import annotations

import subprocess
import time

MEASURE_S = 20.0


def cpu_s(node: str, cgroup: str) -> float:
    """Reads the CPU time of a cgroup on its node, seconds (cgroup v1 or v2)."""
    script = (
        f"cat /sys/fs/cgroup/cpuacct{cgroup}/cpuacct.usage 2>/dev/null"
        f" || sed -n 's/usage_usec //p' /sys/fs/cgroup{cgroup}/cpu.stat | sed 's/$/000/'"
    )
    return int(subprocess.check_output(["docker", "exec", node, "sh", "-c", script])) / 1e9


def pod_cgroup(node: str, uid: str) -> str:
    """Finds the cgroup of a pod on its node."""
    script = (
        "root=/sys/fs/cgroup; [ -d $root/cpuacct ] && root=$root/cpuacct; cd $root;"
        f" find . -type d -name '*{uid.replace('-', '_')}*' | head -1"
    )
    found = subprocess.check_output(["docker", "exec", node, "sh", "-c", script], text=True).strip()
    assert found, f"no cgroup of pod {uid} on {node}"
    return found.removeprefix(".")


def cores_of(*pods: tuple[str, str], for_s: float = MEASURE_S) -> list[float]:
    """Measures the cores that pods (node, uid) use, all at the same time: other load affects them equally."""
    cgroups = [(node, pod_cgroup(node, uid)) for node, uid in pods]
    before = [(cpu_s(*cgroup), time.monotonic()) for cgroup in cgroups]
    time.sleep(for_s)
    return [
        (cpu_s(*cgroup) - used) / (time.monotonic() - at)
        for cgroup, (used, at) in zip(cgroups, before, strict=True)
    ]
