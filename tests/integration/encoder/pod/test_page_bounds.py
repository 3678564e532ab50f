"""A page that takes all it can get costs at most itself: what goes out stays whole, page or slate."""

from __future__ import annotations

import os

import pytest
from tests.support.docker import docker
from tests.support.hostile_show import HostileShow
from tests.support.hostile_site import stored
from tests.support.ingest.pod_page import PORT

from onair_encoder.browser.bounds import MAX_PROFILE_BYTES, MAX_STORED_BYTES, MAX_TASKS

pytestmark = pytest.mark.media

ALL_CPUS = os.sched_getaffinity(0)
CALM_S = 20.0
"""Until a page is released that has become calm; another one is released on trial, after 30 s at least."""
TASKS = "import glob; print(len(glob.glob('/proc/[0-9]*/task/*')))"


def test_every_core_that_a_page_takes_leaves_enough_for_the_show(show: HostileShow) -> None:
    page = """<script>
    const burn = new Blob(['for (;;);'], {type: 'text/javascript'});
    for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(burn));
    setInterval(() => say('busy'), 100);
    </script>"""
    show.open(show.site.page("burns", page))
    show.wait_said("busy")
    show.assert_whole()
    show.assert_whole()


@pytest.mark.skipif(len(ALL_CPUS) < 2, reason="there is no CPU to leave to others")
def test_a_page_that_burns_every_core_is_kept_to_the_last_one_until_it_is_calm(show: HostileShow) -> None:
    show.calm_down()
    show.wait_confined(False, 30)
    page = """<body style='background: #fff'><script>
    const burn = new Blob(['for (;;);'], {type: 'text/javascript'}), workers = [];
    for (let i = 0; i < 8; i++) workers.push(new Worker(URL.createObjectURL(burn)));
    setInterval(async () => {
      say('burning');
      if ((await fetch('/enough.js')).ok) for (const each of workers) each.terminate();
    }, 100);
    </script>"""
    show.open(show.site.page("burns-for-a-while", page))
    show.wait_said("burning")
    show.wait_confined(True, 10)
    assert show.cpus_of("chromium") == {max(ALL_CPUS)}
    assert show.cpus_of("Xvfb") == show.cpus_of("pulseaudio") == ALL_CPUS
    paused = show.wait_paused()
    assert len(paused) == 1, f"the one that burns: {paused}"
    assert paused.popitem()[1] < 0.9, "it runs for a part of its time"
    show.assert_whole()
    show.site.script("enough.js", "")
    show.wait_confined(False, CALM_S)
    assert show.cpus_of("chromium") == ALL_CPUS
    assert not any(show.stopped_parts().values()), "nobody stays stopped"
    assert not show.pair.status().on_slate, "it was usable all the time"


def test_a_page_that_never_comes_back_is_replaced_by_the_slate(show: HostileShow) -> None:
    show.open(show.site.page("hangs", "<script>say('hangs').then(() => { for (;;); })</script>"))
    show.wait_said("hangs")
    show.pair.wait_for(lambda: show.pair.status().on_slate, "the slate", 60)
    show.assert_whole()


def test_processes_without_end_are_ended(show: HostileShow) -> None:
    """By workers, and by frames of ever more sites: a process each."""
    page = """<body><script>
    const wait = new Blob(['setInterval(() => 0, 1000)'], {type: 'text/javascript'});
    let site = 0;
    setInterval(() => {
      for (let i = 0; i < 10; i++) new Worker(URL.createObjectURL(wait));
      const frame = document.createElement('iframe');
      frame.src = `http://site${site++}.localhost:PORT/calm`;
      document.body.append(frame);
    }, 20);
    </script>"""
    show.open(show.site.page("forks", page.replace("PORT", str(PORT))))
    show.wait_error("the page runs more than", "the page takes more than")
    assert int(docker("exec", f"{show.pair.name}-browser", "python3", "-c", TASKS)) < MAX_TASKS * 2
    show.assert_whole()


@pytest.mark.parametrize("mib", [3, 200], ids=["slowly", "at once"])
def test_memory_without_end_is_ended(show: HostileShow, mib: int) -> None:
    page = f"""<script>
    const kept = [];
    setInterval(() => kept.push(new Uint8Array({mib} << 20).fill(1)), 20);
    </script>"""
    before = len(show.pair.logs("browser"))
    show.open(show.site.page(f"memory-{mib}", page))
    show.pair.wait_for(
        lambda: '"chromium.lost"' in show.pair.logs("browser")[before:], "the browser is ended", 60
    )
    show.assert_whole()


def test_a_cache_is_full_before_the_disk_is(show: HostileShow) -> None:
    page = """<script>(async () => {
    const cache = await caches.open('all'), body = new Uint8Array(4 << 20);
    let count = 0;
    try {
      for (;; count++) {
        for (let i = 0; i < body.length; i += 65536) crypto.getRandomValues(body.subarray(i, i + 65536));
        await cache.put('/' + count, new Response(body));
      }
    } catch (error) { say(`full ${error.name} ${count * 4}`); }
    })()</script>"""
    before = len(show.pair.logs("browser"))
    show.open(show.site.page("caches", page))
    _, name, stored_mib = show.wait_said("full", 120).split()
    assert name == "QuotaExceededError"
    assert int(stored_mib) << 20 <= MAX_STORED_BYTES
    assert stored(show.pair.folder / "browser-tmp") < MAX_PROFILE_BYTES
    assert '"chromium.lost"' not in show.pair.logs("browser")[before:]
    show.assert_whole()
