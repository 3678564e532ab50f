"""How a programme is encoded: colours, codecs, rates. The same options give the same headers. Pure."""

from __future__ import annotations

import math
from fractions import Fraction

from onair_crds.contract.program import Program, ProgramVideo
from onair_encoder.encode.paint import paced_rate

PRESETS = {"standard": "veryfast", "high": "fast"}

TO_BT709 = (
    "scale=out_color_matrix=bt709:out_range=tv:flags=area+accurate_rnd+full_chroma_inp,"
    "format=yuv420p,setsar=1"
)
"""By default swscale converts by BT.601, whatever the size. These flags are exact, and cost half the time
of the default ones, which halve the chroma before they convert it, pixel by pixel. The shape of pixels
is in the headers, and a captured screen has none."""
COLOUR_TAGS = [
    *("-color_range", "tv"),
    *(part for tag in ("colorspace", "color_primaries", "color_trc") for part in (f"-{tag}", "bt709")),
]
THREAD_PIXELS_PER_S = {"standard": 1280 * 720 * 30, "high": 1280 * 720 * 15}
"""What one thread encodes, with room for a slow or busy core."""
MAX_THREADS = 8


def codec_options(program: Program, *filters: str) -> list[str]:
    """Options of filter and codecs: RGB in, BT.709 in limited range and constant bitrate out.

    `nal-hrd=cbr` pads with filler, as x264 with zerolatency otherwise sends
    half the bitrate for a still page. Its `fps` is what the stream declares.

    Args:
        filters: of the video, before its colours are converted.
    """
    video, audio = program.video, program.audio
    gop = str(video.keyframe_interval_frames)
    return [
        *("-vf", ",".join((*filters, TO_BT709)), "-c:v", "libx264", "-preset", PRESETS[video.quality]),
        *("-tune", "zerolatency"),
        *("-profile:v", video.profile, "-r", str(encoded_rate(video.framerate)), *COLOUR_TAGS),
        *("-b:v", str(video.bitrate_bps), "-maxrate", str(video.bitrate_bps)),
        *("-bufsize", str(video.bitrate_bps)),
        *("-x264-params", f"nal-hrd=cbr:fps={exact_framerate(video.framerate)}"),
        *("-threads:v", str(encoder_threads(video))),
        *("-g", gop, "-keyint_min", gop, "-sc_threshold", "0", "-bf", "0"),
        *("-c:a", "aac", "-b:a", str(audio.bitrate_bps), "-ar", str(audio.sample_rate_hz)),
        *("-ac", str(audio.channels), "-flags", "+global_header"),
    ]


def exact_framerate(framerate: float) -> Fraction:
    """Frames per second; 29.97 and its like are 30000/1001."""
    whole = round(framerate)
    ntsc = Fraction(whole * 1000, 1001)
    if framerate != whole and abs(framerate - ntsc) < 0.005:
        return ntsc
    return Fraction(f"{framerate:g}")


def encoded_rate(framerate: float) -> Fraction:
    """Frames per second as they are captured and encoded, a hair off: whole microseconds apart."""
    return paced_rate(exact_framerate(framerate))


def encoder_threads(video: ProgramVideo) -> int:
    """Threads of x264, which with zerolatency are slices of each frame.

    By default they are as many as the node has cores, and so the bitstream would depend on the node.
    """
    pixels_per_s = video.width * video.height * video.framerate
    return min(MAX_THREADS, math.ceil(pixels_per_s / THREAD_PIXELS_PER_S[video.quality]))
