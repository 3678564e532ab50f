"""Shows that a demo leaves on the air: how they are stopped, and that the next demo ends them."""

from __future__ import annotations

from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient, LiveShow
from tests.support.waiting import wait_for


def end_earlier(facade: FacadeClient, receiver: ReceiverClient, path: str) -> None:
    """Deletes the shows that this demo has kept, or left when it was killed; waits until nothing arrives."""
    if facade.delete_collections():
        wait_for(lambda: not receiver.ready(path), f"an earlier show at {path} ends", 60, poll_s=0.1)


def say_how_to_stop(show: LiveShow) -> None:
    """Prints what ends a show that is kept."""
    print(f"stop     kubectl delete collection {show.collection} -n shows, or the same demo again")
