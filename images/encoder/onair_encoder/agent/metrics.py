"""The encoder's metrics for Prometheus, collected when it scrapes, so that counting costs next to nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onair_crds.media.flv import Packet
from onair_encoder.agent.agent import Agent

DELAY_BUCKETS_S = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
DROPPED = "Captures that came so late that the previous frame was encoded again instead."
DUPLICATED = "Frames that were encoded again because the next capture came late."
CAPTURE_PHASE = "From when Chromium begins a frame until a capture is due, at most until the next one begins."
CAPTURES_IN_STEP = "1 if captures are due when paints are on the screen, 0 if ffmpeg began late."
CONFINED = "1 while the browser is confined to fewer CPUs because its page takes all of them."
OF_DESTINATION = ["destination", "kind"]


def registry_of(agent: Agent) -> CollectorRegistry:
    """A registry with all metrics of an agent."""
    registry = CollectorRegistry()
    delay = Histogram(
        "onair_encoder_glass_to_packet_seconds",
        "From a frame's capture off the screen to its packet at the fan-out.",
        buckets=DELAY_BUCKETS_S,
        registry=registry,
    )

    def frame(packet: Packet) -> None:
        began_s = agent.encode_progress.first_capture_s
        if began_s is not None:
            taken_s = time.monotonic() - began_s - packet.timestamp_ms / 1000
            if 0 <= taken_s < 10:  # frames of another ffmpeg: when that began is not known
                delay.observe(taken_s)

    agent.switch.on_frame = frame
    registry.register(AgentMetrics(agent))
    return registry


class AgentMetrics(Collector):
    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def collect(self) -> Iterator[Metric]:
        yield from self._programme()
        yield from self._levels()
        yield from self._destinations()

    def _programme(self) -> Iterator[Metric]:
        agent, encode = self._agent, self._agent.encode_progress.now
        for name, text, count in (
            ("onair_encoder_frames", "Frames encoded.", agent.fan_out.frames),
            ("onair_encoder_dropped_frames", DROPPED, encode.dropped),
            ("onair_encoder_duplicated_frames", DUPLICATED, encode.duplicated),
            ("onair_encoder_program_bytes", "Encoded bytes of media.", agent.fan_out.bytes),
            ("onair_encoder_streams", "How often ffmpeg has connected.", agent.input.streams),
            ("onair_encoder_slates", "How often the slate went on air.", agent.switch.slates),
        ):
            yield CounterMetricFamily(name, text, value=count)
        for name, text, value in (
            ("onair_encoder_speed", "Speed of encoding; 1 is real time.", encode.speed),
            ("onair_encoder_bitrate_bps", "Bits per second of media.", agent.status().bitrate_bps),
            ("onair_encoder_failures", "Consecutive failures of ffmpeg.", encode.failures),
            ("onair_encoder_on_slate", "1 while the slate is on air.", float(agent.switch.on_slate)),
            ("onair_encoder_browser_confined", CONFINED, float(agent.page.confined)),
            ("onair_encoder_failed_layers", "Layers that the page cannot show.", agent.page.scene.failures),
        ):
            yield GaugeMetricFamily(name, text, value=value)
        yield GaugeMetricFamily(
            "onair_encoder_paints_per_second",
            "Paints of the browser per second.",
            value=1e6 / agent.page.paints.tick_us,
        )
        phase_s = agent.capture_phase_s
        if phase_s is not None:
            yield GaugeMetricFamily("onair_encoder_capture_phase_seconds", CAPTURE_PHASE, value=phase_s)
            in_step = float(agent.captures_in_step)
            yield GaugeMetricFamily("onair_encoder_captures_in_step", CAPTURES_IN_STEP, value=in_step)

    def _levels(self) -> Iterator[Metric]:
        level = GaugeMetricFamily(
            "onair_encoder_layer_level_dbfs", "Level of a layer on air.", labels=["layer"]
        )
        for layer, dbfs in self._agent.page.scene.levels.items():
            level.add_metric([layer], dbfs)
        yield level

    def _destinations(self) -> Iterator[Metric]:
        connected = GaugeMetricFamily(
            "onair_destination_connected", "1 while media flows to it.", labels=OF_DESTINATION
        )
        queued = GaugeMetricFamily(
            "onair_destination_queued_bytes", "Bytes queued for the destination.", labels=OF_DESTINATION
        )
        attempts = CounterMetricFamily(
            "onair_destination_attempts", "Connection attempts.", labels=OF_DESTINATION
        )
        sessions = CounterMetricFamily(
            "onair_destination_sessions", "Sessions that were connected.", labels=OF_DESTINATION
        )
        sent = CounterMetricFamily(
            "onair_destination_sent_bytes",
            "Bytes that the destination has acknowledged.",
            labels=OF_DESTINATION,
        )
        dropped = CounterMetricFamily(
            "onair_destination_dropped_packets",
            "Packets dropped because the destination was too slow.",
            labels=OF_DESTINATION,
        )
        undeleted = GaugeMetricFamily(
            "onair_destination_undeleted_segments",
            "Old segments that a bucket refuses to delete.",
            labels=OF_DESTINATION,
        )
        waiting = GaugeMetricFamily(
            "onair_destination_waiting_seconds",
            "Seconds of the programme that wait to be stored.",
            labels=OF_DESTINATION,
        )
        missing = GaugeMetricFamily(
            "onair_destination_missing_seconds",
            "Seconds of the programme that are missing in a recording for good.",
            labels=OF_DESTINATION,
        )
        for destination in self._agent.destinations:
            counters = destination.counters
            labels = [destination.wanted.id, destination.wanted.type]
            connected.add_metric(labels, float(destination.is_connected))
            queued.add_metric(labels, counters.queued_bytes)
            attempts.add_metric(labels, destination.state.attempts)
            sessions.add_metric(labels, counters.sessions)
            sent.add_metric(labels, counters.sent_bytes)
            dropped.add_metric(labels, counters.dropped)
            undeleted.add_metric(labels, counters.undeleted)
            waiting.add_metric(labels, destination.state.waiting_s)
            missing.add_metric(labels, destination.state.missing_s)
        yield from (connected, queued, attempts, sessions, sent, dropped, undeleted, waiting, missing)
