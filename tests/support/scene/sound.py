"""What a page plays, by the samples that reach its output."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tests.support.scene.browser import Tab
from tests.support.waiting import until

TAP = Path(__file__).with_name("heard.js").read_text()
RATE_HZ = 48_000
PACKED = """(() => {
  const samples = Float32Array.from(heard.samples), bytes = new Uint8Array(samples.buffer);
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(text);
})()"""


@dataclass(frozen=True)
class Sound:
    samples: npt.NDArray[np.float32]

    def level_db(self) -> float:
        """Of a sine of full scale: 0."""
        return float(20 * np.log10(np.sqrt(2 * np.mean(self.samples**2)) + 1e-9))

    def tone_db(self, frequency_hz: float) -> float:
        """The level of one tone, a sine of full scale being 0."""
        times = np.arange(len(self.samples)) / RATE_HZ
        window = np.hanning(len(self.samples))
        part = np.abs(np.sum(self.samples * window * np.exp(-2j * np.pi * frequency_hz * times)))
        return float(20 * np.log10(2 * part / np.sum(window) + 1e-9))

    def largest_step(self) -> float:
        """Between two samples: a click is a large one."""
        return float(np.abs(np.diff(self.samples)).max())

    def windows(self, seconds: float) -> list[Sound]:
        size = round(seconds * RATE_HZ)
        return [Sound(self.samples[at : at + size]) for at in range(0, len(self.samples) - size, size)]


async def forget(tab: Tab) -> None:
    await tab.evaluate("heard.samples = []")


async def hear_tone(tab: Tab, frequency_hz: float, db: float, within_db: float) -> None:
    """Waits until a tone is this loud for half a second: it skips where it begins, and on a busy machine."""
    heard_db: list[float] = []

    async def is_heard() -> bool:
        await forget(tab)
        heard_db.append((await listen(tab, 0.5)).tone_db(frequency_hz))
        return abs(heard_db[-1] - db) < within_db

    await until(is_heard, f"{frequency_hz} Hz at {db:.1f} dB", state=lambda: heard_db)


async def listen(tab: Tab, seconds: float) -> Sound:
    """What is played from the last `forget` on, once it is that long."""
    await tab.until(f"heard.samples.length >= {round(seconds * RATE_HZ)}", seconds * 5 + 10)
    packed = base64.b64decode(await tab.evaluate(PACKED))
    return Sound(np.frombuffer(packed, dtype=np.float32))
