"""Brings the local environment up: tools, images, cluster, chart. What is there already is not done again."""

import argparse
import fcntl

from chart import chart_step
from cluster import cluster_step
from images import images_step
from progress import last_words
from settings import CACHE, CLUSTER, url
from tools import tools_step


def main() -> None:
    """Runs the steps in order, one `up` of a cluster at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", type=int, default=4, help="number of steps to show, when others follow")
    parser.add_argument("--until", choices=["tools", "images", "cluster", "chart"], default="chart")
    options = parser.parse_args()
    labels = [f"[{number}/{options.of}]" for number in range(1, 5)]

    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{CLUSTER}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another `make up` is at work; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        tools_step(labels[0])
        if options.until == "tools":
            return
        images = images_step(labels[1])
        if options.until == "images":
            return
        cluster_step(labels[2], images)
        if options.until == "chart":
            chart_step(labels[3], images)
            if options.of == len(labels):
                print(f'api docs {url()}/docs     shell  eval "$(make env)"     next  make demo')


if __name__ == "__main__":
    with last_words():
        main()
