"""A room of a LiveKit server: H.264 passed through as it is, audio as Opus by libwebrtc."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from livekit import rtc
from livekit.rtc._proto import participant_pb2, room_pb2, track_pb2, video_frame_pb2

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.stream_metadata import VideoFormat
from onair_crds.room_publisher.address import server_of
from onair_crds.room_publisher.audio import CHANNELS, CHUNK_SAMPLES, SAMPLE_RATE_HZ
from onair_crds.room_publisher.livekit_errors import connect_failed, disconnected
from onair_crds.room_publisher.pipe import SessionProgress
from onair_crds.room_publisher.room_providers import Frame, RoomSession
from onair_crds.session_error import SessionError

CONNECT_TIMEOUT_S = 2.5
"""Of one attempt; the library makes four."""
PUBLISH_TIMEOUT_S = 5.0
NOT_A_PUBLISHER = SessionError("the room does not let this identity publish", permanent=True)
HEADROOM = 2.0
"""Announced over the programme's bitrate: libwebrtc begins at 0.9 of it and paces by its estimate."""
LEAST_ANNOUNCED_BPS = 2_000_000
AUDIO_BPS = 128_000
STREAM = "programme"
"""Tracks of one stream are kept in step by viewers."""

_H264 = video_frame_pb2.VideoCodec.H264
_KEY, _DELTA = (
    video_frame_pb2.EncodedFrameType.ENCODED_FRAME_KEY,
    video_frame_pb2.EncodedFrameType.ENCODED_FRAME_DELTA,
)


class LiveKitRoom(RoomSession):
    def __init__(self, rtc_: ProgramRtc) -> None:
        super().__init__(rtc_)
        # The library logs the token with a refusal.
        logging.getLogger("livekit").disabled = True
        self._room = rtc.Room()
        self._room.on("disconnected", self._disconnected)
        self._source: rtc.EncodedVideoSource | None = None
        self._video: rtc.LocalTrackPublication | None = None
        self._audio: rtc.AudioSource | None = None
        self._announced_bps = 0
        self._frames_of: dict[int, int] = {}
        """Sent by each stream of the session: nothing more is reported of one that was published again."""

    async def join(self) -> None:
        options = rtc.RoomOptions(auto_subscribe=False, connect_timeout=CONNECT_TIMEOUT_S)
        try:
            await self._room.connect(self.rtc.url, self.rtc.token.get_secret_value(), options)
        except rtc.ConnectError as error:
            raise connect_failed(error.message, self.rtc.url) from None
        if not self._room.local_participant.permissions.can_publish:
            raise NOT_A_PUBLISHER

    async def publish(self, video: VideoFormat) -> None:
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT_S):
                await self._publish_video(video)
                await self._publish_audio()
        except rtc.participant.PublishTrackError:
            raise NOT_A_PUBLISHER from None
        except TimeoutError:
            raise SessionError(f"no response from {server_of(self.rtc.url)} to the tracks") from None

    async def _publish_video(self, video: VideoFormat) -> None:
        if self._source and video.bitrate_bps * 1.1 <= self._announced_bps:
            return
        participant = self._room.local_participant
        if self._video:
            await participant.unpublish_track(self._video.sid)
        self._announced_bps = max(round(video.bitrate_bps * HEADROOM), LEAST_ANNOUNCED_BPS)
        self._source = rtc.EncodedVideoSource(video.width, video.height)
        track = rtc.LocalVideoTrack.create_video_track("video", self._source)
        options = rtc.TrackPublishOptions(
            video_codec=_H264,
            video_encoder=room_pb2.VideoEncoderBackend.ENCODER_BACKEND_PRE_ENCODED,
            simulcast=False,
            # A camera's estimate of the bandwidth begins at 1 Mbit/s at most, and video
            # of a constant bitrate would wait for seconds in the pacer while it grows.
            source=track_pb2.TrackSource.SOURCE_SCREENSHARE,
            stream=STREAM,
        )
        options.video_encoding.max_bitrate = self._announced_bps
        options.video_encoding.max_framerate = video.framerate
        self._video = await participant.publish_track(track, options)

    async def _publish_audio(self) -> None:
        if self._audio:
            return
        # No queue: it would play by a clock of its own and add its depth to the delay.
        self._audio = rtc.AudioSource(SAMPLE_RATE_HZ, CHANNELS, queue_size_ms=0)
        track = rtc.LocalAudioTrack.create_audio_track("audio", self._audio)
        options = rtc.TrackPublishOptions(
            source=track_pb2.TrackSource.SOURCE_SCREENSHARE_AUDIO, stream=STREAM, dtx=False, red=False
        )
        options.audio_encoding.max_bitrate = AUDIO_BPS
        await self._room.local_participant.publish_track(track, options)

    def video(self, frame: Frame, capture_us: int) -> bool:
        if not self._source:
            return False
        return self._source.capture_frame(
            rtc.EncodedVideoFrame(
                data=frame.data,
                width=frame.width,
                height=frame.height,
                codec=_H264,
                frame_type=_KEY if frame.keyframe else _DELTA,
                timestamp_us=capture_us,
            )
        )

    def wants_keyframe(self) -> bool:
        return bool(self._source and self._source.take_feedback().keyframe_requested)

    async def audio(self, pcm: bytes) -> None:
        if self._audio:
            await self._audio.capture_frame(rtc.AudioFrame(pcm, SAMPLE_RATE_HZ, CHANNELS, CHUNK_SAMPLES))

    async def progress(self) -> SessionProgress:
        if not self._room.isconnected():
            return SessionProgress()
        stats = (await self._room.get_rtc_stats()).publisher_stats
        if other := other_codec(stats):
            raise SessionError(f"{server_of(self.rtc.url)} took the video for {other}, and nobody can see it")
        return progress_of(stats, self._frames_of)

    async def leave(self) -> None:
        await self._room.disconnect()

    def _disconnected(self, reason: participant_pb2.DisconnectReason.ValueType) -> None:
        if not self.lost.done():
            name = participant_pb2.DisconnectReason.Name(reason)
            self.lost.set_result(disconnected(name, self.rtc.url, self.rtc.identity))


def other_codec(stats: list[Any]) -> str | None:
    """RTP's name for what video is sent as where that is not H.264; None if it is, or nothing is sent.

    A session that is resumed after its server was restarted is negotiated again by the library, now and then
    (5 of 210 times) before it has said which codec it wants.
    """
    names: dict[str, str] = {
        each.codec.rtc.id: each.codec.codec.mime_type.partition("/")[2]
        for each in stats
        if each.WhichOneof("stats") == "codec"
    }
    for each in stats:
        if each.WhichOneof("stats") == "outbound_rtp" and each.outbound_rtp.stream.kind == "video":
            name = names.get(each.outbound_rtp.stream.codec_id, "")
            if name and name.upper() != "H264":
                return name
    return None


def progress_of(stats: list[Any], frames_of: dict[int, int]) -> SessionProgress:
    """The session's totals among WebRTC's statistics.

    Args:
        frames_of: what was sent by streams so far, by SSRC; is brought up to date.
    """
    video_bytes = sent_bytes = responses = 0
    round_trip_ms = 0.0
    for each in stats:
        match each.WhichOneof("stats"):
            case "outbound_rtp" if each.outbound_rtp.stream.kind == "video":
                video_bytes += each.outbound_rtp.sent.bytes_sent
                ssrc, sent = each.outbound_rtp.stream.ssrc, each.outbound_rtp.outbound.frames_sent
                frames_of[ssrc] = max(sent, frames_of.get(ssrc, 0))
            case "candidate_pair" if each.candidate_pair.candidate_pair.nominated:
                pair = each.candidate_pair.candidate_pair
                sent_bytes += pair.bytes_sent
                responses += pair.packets_received
                round_trip_ms = max(round_trip_ms, pair.current_round_trip_time * 1000)
    return SessionProgress(video_bytes, sent_bytes, responses, round_trip_ms, sum(frames_of.values()))
