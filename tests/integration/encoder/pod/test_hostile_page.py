"""A page that wants to do harm costs at most itself: what goes out stays whole, its picture or the slate."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.hostile_site import HostileSite, stored
from tests.support.media.stream import gray_frames
from tests.support.pod_pair import PodPair, programme

from onair_encoder.browser.bounds import MAX_PROFILE_BYTES, MAX_STORED_BYTES, MAX_TASKS

pytestmark = pytest.mark.media

KEY = "hostile"
ALL_CPUS = os.sched_getaffinity(0)
MEMORY_MIB = 1200
CALM = "<body style='background: #fff'><script>setInterval(() => say('calm'), 50)</script>"
TASKS = "import glob; print(len(glob.glob('/proc/[0-9]*/task/*')))"
CPUS = """
import json, os, pathlib, sys
found = {}
for process in filter(lambda each: each.name.isdigit(), pathlib.Path('/proc').iterdir()):
    try:
        program = pathlib.Path((process / 'cmdline').read_text().split(chr(0))[0].split(' ')[0]).name
        for task in (process / 'task').iterdir():
            found.setdefault(program, set()).update(os.sched_getaffinity(int(task.name)))
    except OSError: pass
print(json.dumps({program: sorted(cpus) for program, cpus in found.items()}))
"""
"""Of each program, where one of its threads may run."""


@dataclass
class Show:
    """On air all the time; only its page changes."""

    pair: PodPair
    far_end: RtmpContainer
    site: HostileSite
    connection: str | None = None

    def open(self, url: str) -> None:
        self.pair.put(programme(url, self.far_end, KEY, page_timeout_ms=1000)).raise_for_status()

    def wait_said(self, text: str, timeout_s: float = 30.0) -> str:
        """The first that a page says which begins so."""

        def found() -> list[str]:
            return [each for each in self.site.said() if each.startswith(text)]

        self.pair.wait_for(found, f"said {text!r}: {self.site.said()[-5:]}", timeout_s)
        return found()[0]

    def wait_error(self, *beginnings: str, timeout_s: float = 60.0) -> None:
        def named() -> bool:
            return (self.pair.status().composition_error or "").startswith(beginnings)

        self.pair.wait_for(named, f"an error of {beginnings}", timeout_s)

    def cpus_of(self, program: str) -> set[int]:
        """Of the browser's container."""
        found = json.loads(docker("exec", f"{self.pair.name}-browser", "python3", "-c", CPUS))
        return set(found[program])

    def wait_confined(self, confined: bool, timeout_s: float) -> None:
        self.pair.wait_for(
            lambda: self.pair.metrics()["onair_encoder_browser_confined"] == confined,
            f"confined: {confined}; {self.pair.logs('browser')[-500:]}",
            timeout_s,
        )

    def assert_whole(self) -> None:
        """Two seconds of it at the far end, which has been connected since the beginning."""
        assert len(gray_frames(self.far_end.read_url(KEY), 2)) > 45
        assert self.far_end.publisher(KEY) == self.connection
        for part in ("browser", "encoder"):
            state = docker(
                "inspect", "-f", "{{.State.Running}} {{.RestartCount}}", f"{self.pair.name}-{part}"
            )
            assert state == "true 0"

    def calm_down(self) -> None:
        """Another page, of another origin, is shown as any."""
        self.open(self.site.page("calm", CALM, "127.0.0.2"))
        self.pair.wait_for(
            lambda: self.pair.status().composition_error is None and not self.pair.status().on_slate,
            "calm",
            60,
        )


@pytest.fixture(scope="module")
def on_air(tmp_path_factory: pytest.TempPathFactory, far_end: RtmpContainer) -> Iterator[Show]:
    folder = tmp_path_factory.mktemp("hostile")
    with PodPair(folder, browser_memory_mib=MEMORY_MIB) as pair:
        pair.wait_agent()
        show = Show(pair, far_end, HostileSite(pair))
        show.calm_down()
        pair.wait_phase("running")
        pair.wait_for(lambda: far_end.path(KEY).get("ready"), "at the far end")
        show.connection = far_end.publisher(KEY)
        yield show


@pytest.fixture
def show(on_air: Show) -> Iterator[Show]:
    yield on_air
    on_air.calm_down()
    on_air.assert_whole()


def test_files_of_the_container_are_no_pages(show: Show) -> None:
    show.open("file:///etc/passwd")
    show.wait_error("file: not an address that pages may be at")
    page = """<iframe src="file:///etc/passwd"></iframe><script>
    fetch('file:///etc/passwd').then(() => say('file read'), () => say('file refused'));
    window.open('file:///etc/passwd');
    location = 'file:///etc/passwd';
    </script>"""
    show.open(show.site.page("files", page))
    show.wait_said("file refused")
    assert "file read" not in show.site.said()
    show.assert_whole()


def test_what_a_screen_without_people_is_asked_is_refused(show: Show) -> None:
    page = """<script>
    const denied = (name, promise) =>
      promise.then(() => say(name + ' granted'), () => say(name + ' refused'));
    denied('geolocation', new Promise((ok, no) => navigator.geolocation.getCurrentPosition(ok, no)));
    Notification.requestPermission().then(state => say('notifications ' + state));
    denied('camera', navigator.mediaDevices.getUserMedia({video: true}));
    denied('microphone', navigator.mediaDevices.getUserMedia({audio: true}));
    denied('screen', navigator.mediaDevices.getDisplayMedia());
    denied('midi', navigator.requestMIDIAccess({sysex: true}));
    denied('usb', navigator.usb.requestDevice({filters: []}));
    denied('serial', navigator.serial.requestPort());
    denied('bluetooth', navigator.bluetooth?.requestDevice({acceptAllDevices: true}) ?? Promise.reject());
    denied('files', showOpenFilePicker());
    print();
    location = 'mailto:someone@example.org';
    </script>"""
    show.open(show.site.page("asks", page))
    for name in (
        "geolocation",
        "camera",
        "microphone",
        "screen",
        "midi",
        "usb",
        "serial",
        "bluetooth",
        "files",
    ):
        assert show.wait_said(name) == f"{name} refused"
    assert show.wait_said("notifications") == "notifications denied"
    show.assert_whole()


def test_a_download_does_not_reach_the_disk(show: Show) -> None:
    page = """<a download href="/gigabyte">x</a><script>
    document.querySelector('a').click();
    setTimeout(() => { location = '/gigabyte' }, 300);
    </script>"""
    show.open(show.site.page("downloads", page))
    sent = int(show.wait_said("download ").split()[1])
    assert sent < 256 << 20
    assert stored(show.pair.folder / "browser-tmp") < MAX_PROFILE_BYTES
    show.assert_whole()


def test_dialogs_and_windows_without_end_cover_nothing(show: Show) -> None:
    page = """<script>
    setInterval(() => window.open('/calm'), 20);
    setInterval(() => { alert(1); confirm(2); prompt(3); say('asked'); }, 20);
    addEventListener('beforeunload', event => event.preventDefault());
    </script>"""
    show.open(show.site.page("dialogs", page))
    show.pair.wait_for(lambda: show.site.said().count("asked") > 5, "dialogs closed", 30)
    show.assert_whole()


def test_every_core_that_a_page_takes_leaves_enough_for_the_show(show: Show) -> None:
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
def test_a_page_that_burns_every_core_is_kept_to_the_last_one_until_it_is_calm(show: Show) -> None:
    show.calm_down()
    show.wait_confined(False, 30)
    page = """<body style='background: #fff'><script>
    const burn = new Blob(['for (;;);'], {type: 'text/javascript'}), workers = [];
    for (let i = 0; i < 8; i++) workers.push(new Worker(URL.createObjectURL(burn)));
    setInterval(() => say('burning'), 100);
    setTimeout(() => { for (const each of workers) each.terminate(); }, 8000);
    </script>"""
    show.open(show.site.page("burns-for-a-while", page))
    show.wait_said("burning")
    show.wait_confined(True, 10)
    assert show.cpus_of("chromium") == {max(ALL_CPUS)}
    assert show.cpus_of("Xvfb") == show.cpus_of("pulseaudio") == ALL_CPUS
    show.assert_whole()
    show.wait_confined(False, 40)
    assert show.cpus_of("chromium") == ALL_CPUS
    assert not show.pair.status().on_slate, "it was usable all the time"


def test_a_page_that_never_comes_back_is_replaced_by_the_slate(show: Show) -> None:
    show.open(show.site.page("hangs", "<script>say('hangs').then(() => { for (;;); })</script>"))
    show.wait_said("hangs")
    show.pair.wait_for(lambda: show.pair.status().on_slate, "the slate", 60)
    show.assert_whole()


def test_processes_without_end_are_ended(show: Show) -> None:
    """By workers, and by frames of ever more sites: a process each."""
    page = """<script>
    const wait = new Blob(['setInterval(() => 0, 1000)'], {type: 'text/javascript'});
    let site = 3;
    setInterval(() => {
      for (let i = 0; i < 10; i++) new Worker(URL.createObjectURL(wait));
      const frame = document.createElement('iframe');
      frame.src = `http://127.0.${site >> 7}.${site++ & 127}:18080/calm`;
      document.body.append(frame);
    }, 20);
    </script>"""
    show.open(show.site.page("forks", page + "<body>"))
    show.wait_error("the page runs more than", "the page takes more than")
    assert int(docker("exec", f"{show.pair.name}-browser", "python3", "-c", TASKS)) < MAX_TASKS * 2
    show.assert_whole()


@pytest.mark.parametrize("mib", [3, 200], ids=["slowly", "at once"])
def test_memory_without_end_is_ended(show: Show, mib: int) -> None:
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


def test_a_cache_is_full_before_the_disk_is(show: Show) -> None:
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


def test_a_service_worker_does_not_outlive_its_page(show: Show) -> None:
    worker = """
    addEventListener('install', event => event.waitUntil(skipWaiting()));
    addEventListener('activate', event => event.waitUntil(clients.claim()));
    addEventListener('message', event => {
      setInterval(() => fetch('/said/worker'), 50);
      event.waitUntil(new Promise(() => 0));
    });
    """
    page = """<script>(async () => {
    await navigator.serviceWorker.register('/worker.js');
    (await navigator.serviceWorker.ready).active.postMessage('live');
    })()</script>"""
    show.site.script("worker.js", worker)
    show.open(show.site.page("workers", page))
    show.wait_said("worker")
    show.calm_down()

    def silent() -> bool:
        """Another page says fifty things, and the worker nothing."""
        return set(show.site.said()[-50:]) == {"calm"}

    show.pair.wait_for(silent, "the worker is gone", 30)
