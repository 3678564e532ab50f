"""A page is refused what no page needs, nothing of it stays, and what goes out is whole meanwhile."""

from __future__ import annotations

import pytest
from tests.support.hostile_show import KEY, HostileShow
from tests.support.hostile_site import stored
from tests.support.ingest.pod_page import PORT
from tests.support.media.stream import gray_frames

from onair_encoder.browser.bounds import MAX_PROFILE_BYTES

pytestmark = pytest.mark.media

GRAY, TOLERANCE = 0xC0, 20
"""No other page here has this colour, nor has a dialog."""
ASKED_S = 90.0
"""For cameras and microphones Chromium asks processes that it starts first: 3 s each on an idle machine, one
after the other, and once more than 30 on a busy one."""


def test_files_of_the_container_are_no_pages(show: HostileShow) -> None:
    show.open("file:///etc/passwd")
    show.wait_error("file: not an address that pages may use")
    page = """<iframe src="file:///etc/passwd"></iframe><script>
    fetch('file:///etc/passwd').then(() => say('file read'), () => say('file refused'));
    window.open('file:///etc/passwd');
    location = 'file:///etc/passwd';
    </script>"""
    show.open(show.site.page("files", page))
    show.wait_said("file refused")
    assert "file read" not in show.site.said()
    show.assert_whole()


def test_what_a_screen_without_people_is_asked_is_refused(show: HostileShow) -> None:
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
        assert show.wait_said(name, ASKED_S) == f"{name} refused"
    assert show.wait_said("notifications") == "notifications denied"
    show.assert_whole()


def test_a_download_does_not_reach_the_disk(show: HostileShow) -> None:
    page = """<a download href="/gigabyte">x</a><script>
    document.querySelector('a').click();
    setTimeout(() => { location = '/gigabyte' }, 300);
    </script>"""
    show.open(show.site.page("downloads", page))
    sent = int(show.wait_said("download ").split()[1])
    assert sent < 256 << 20
    assert stored(show.pair.folder / "browser-tmp") < MAX_PROFILE_BYTES
    show.assert_whole()


ASKS = """<script>
setInterval(() => { if (open('/calm')) say('window'); }, 20);
setInterval(() => { alert(1); confirm(2); prompt(3); say(`asked by ${location.host}`); }, 20);
addEventListener('beforeunload', event => event.preventDefault());
</script>"""


def test_dialogs_and_windows_without_end_cover_nothing(show: HostileShow) -> None:
    """Neither the page's nor those of a frame of another site."""
    frame = show.site.page("asking", ASKS, "localhost")
    body = f"<body style='background: #c0c0c0'><iframe src={frame} style='border: 0'></iframe>{ASKS}"
    show.open(show.site.page("dialogs", body))

    def uncovered() -> bool:
        frames = gray_frames(show.far_end.read_url(KEY), 1).astype(int)
        return bool((abs(frames - GRAY) < TOLERANCE).all())

    show.pair.wait_for(uncovered, "the page is on air, without a dialog", 30)
    before = show.site.said()
    assert uncovered()
    assert uncovered()
    said = show.site.said()[len(before) :]
    for host in ("127.0.0.1", "localhost"):
        assert said.count(f"asked by {host}:{PORT}") > 5, "meanwhile"
    assert "window" not in show.site.said()
    show.assert_whole()


WORKER = """
addEventListener('install', event => event.waitUntil(skipWaiting()));
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('message', event => {
  setInterval(() => fetch('/said/service worker of ' + location.host), 50);
  event.waitUntil(new Promise(() => 0));
});
"""
SHARED_WORKER = "setInterval(() => fetch('/said/shared worker of ' + location.host), 50);"
HAS_WORKERS = """<script>(async () => {
new SharedWorker('/shared.js', {extendedLifetime: true});
await navigator.serviceWorker.register('/worker.js');
(await navigator.serviceWorker.ready).active.postMessage('live');
})()</script>"""


def test_workers_do_not_outlive_their_page(show: HostileShow) -> None:
    """Neither its own nor those of a frame of another site, which are stored by both sites."""
    show.site.script("worker.js", WORKER)
    show.site.script("shared.js", SHARED_WORKER)
    frame = show.site.page("frame", HAS_WORKERS, "localhost")
    show.open(show.site.page("workers", f"<iframe src={frame}></iframe>{HAS_WORKERS}"))
    for host in ("127.0.0.1", "localhost"):
        show.wait_said(f"service worker of {host}:{PORT}")
        show.wait_said(f"shared worker of {host}:{PORT}")
    show.calm_down()

    def silent() -> bool:
        """Another page says fifty things, and the workers nothing."""
        return set(show.site.said()[-50:]) == {"calm"}

    show.pair.wait_for(silent, "the workers are gone", 20)
