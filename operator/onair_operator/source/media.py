"""What arrives of a source, as its status says it. Pure."""

from __future__ import annotations

from onair_crds.contract.access_units import AUDIO_CODEC, VIDEO_CODEC
from onair_crds.contract.ingest_gateway import Audio, StreamState, Video
from onair_crds.resources.source import SourceAudio, SourceMedia, SourceVideo

SAME_FRAMERATE = 0.05
"""A measured rate that differs by less is no news."""
MAX_CODEC, MAX_SUMMARY = 64, 128
WRITTEN = {"H264": "H.264", "H265": "H.265"}
"""Codecs whose name has a dot for readers."""
NOT_SHOWN = "pages cannot show its {} video; send H.264"
NOT_PLAYED = "pages cannot play its {} audio; send AAC"


def media_of(state: StreamState, before: SourceMedia | None) -> SourceMedia | None:
    """What a stream carries; None while that is not known. A rate that only wavers stays as it was said."""
    if state.video is None and state.audio is None:
        return None
    known = before.video if before else None
    video = _video(state.video, known) if state.video else None
    audio = _audio(state.audio) if state.audio else None
    return SourceMedia(video=video, audio=audio, summary=_summary(video, audio))


def described(media: SourceMedia, video: Video | None) -> str:
    """What arrives, in more words than the status has: with the profile of the video."""
    return _summary(media.video, media.audio, (video and video.profile) or "")


def undecodable(media: SourceMedia | None) -> str | None:
    """What no page can decode of what arrives; None if there is nothing of that."""
    video, audio = (media.video, media.audio) if media else (None, None)
    reasons = []
    if video and video.codec != VIDEO_CODEC:
        reasons.append(NOT_SHOWN.format(WRITTEN.get(video.codec, video.codec)))
    if audio and audio.codec != AUDIO_CODEC:
        reasons.append(NOT_PLAYED.format(audio.codec))
    return " · ".join(reasons) or None


def _summary(video: SourceVideo | None, audio: SourceAudio | None, profile: str = "") -> str:
    texts = [text for text in (_video_text(video, profile[:MAX_CODEC]), _audio_text(audio)) if text]
    return ", ".join(texts)[:MAX_SUMMARY]


def _video(video: Video, before: SourceVideo | None) -> SourceVideo:
    rate = video.framerate
    said = before.framerate if before else None
    if rate and said and abs(rate - said) <= said * SAME_FRAMERATE:
        rate = said
    return SourceVideo(
        codec=video.codec[:MAX_CODEC],
        width=video.width,
        height=video.height,
        framerate=_rounded(rate) if rate else None,
    )


def _rounded(rate: float) -> float:
    """Whole where it is nearly so, as 29.97 and 59.94 are not."""
    return float(round(rate)) if abs(rate - round(rate)) < 0.02 else round(rate, 2)


def _audio(audio: Audio) -> SourceAudio:
    return SourceAudio(codec=audio.codec[:MAX_CODEC], sample_rate=audio.sample_rate, channels=audio.channels)


def _video_text(video: SourceVideo | None, profile: str) -> str:
    if video is None:
        return ""
    codec = " ".join(filter(None, (WRITTEN.get(video.codec, video.codec), profile)))
    size = f" {video.width}×{video.height}" if video.width and video.height else ""
    rate = f"@{video.framerate:g}" if video.framerate and size else ""
    return f"{codec}{size}{rate}"


def _audio_text(audio: SourceAudio | None) -> str:
    if audio is None:
        return ""
    rate = f" {audio.sample_rate / 1000:g} kHz" if audio.sample_rate else ""
    channels = {1: " mono", 2: " stereo"}.get(audio.channels or 0, "")
    return f"{audio.codec}{rate}{channels}"
