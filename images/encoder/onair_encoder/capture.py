"""The command line of ffmpeg: screen and sound in, one H.264/AAC programme out. Pure."""

from __future__ import annotations

from onair_crds.program import Program
from onair_encoder.places import DISPLAY, MEDIA_SOCKET, PULSE_SOCKET, SINK

PRESETS = {"standard": "veryfast", "high": "fast"}


def paint_delay_s(width: int, height: int) -> float:
    """How much later a page's picture is on the screen than its sound is in the sink.

    Painting takes the processor longer the larger the canvas is. Measured without a
    graphics processor: 20 to 150 ms at 640×360, 70 to 180 ms at 1280×720.
    """
    return min(0.04 + 0.1 * (width * height) / (1280 * 720), 0.2)


def ffmpeg_command(program: Program) -> list[str]:
    """Captures the top left of the screen at the programme's size and rate; constant bit rate on the wire.

    `nal-hrd=cbr` pads with filler, as x264 with zerolatency otherwise sends
    half the rate for a still page. `fifo` reconnects to the fan-out by itself.
    """
    video, audio = program.video, program.audio
    size = f"{video.width}x{video.height}"
    rate = f"{video.framerate:g}"
    return [
        *("ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning"),
        *("-f", "x11grab", "-framerate", rate, "-video_size", size, "-draw_mouse", "0"),
        *("-thread_queue_size", "64", "-probesize", "32", "-i", f"{DISPLAY}.0+0,0"),
        *("-itsoffset", f"{paint_delay_s(video.width, video.height):.3f}"),
        *("-f", "pulse", "-server", f"unix:{PULSE_SOCKET}", "-fragment_size", "3840"),
        *("-thread_queue_size", "512", "-i", f"{SINK}.monitor"),
        *("-c:v", "libx264", "-preset", PRESETS[video.quality], "-tune", "zerolatency"),
        *("-profile:v", video.profile, "-pix_fmt", "yuv420p", "-r", rate),
        *("-b:v", str(video.bitrate_bps), "-maxrate", str(video.bitrate_bps)),
        *("-bufsize", str(video.bitrate_bps), "-x264-params", "nal-hrd=cbr"),
        *("-g", str(video.keyframe_interval_frames), "-keyint_min", str(video.keyframe_interval_frames)),
        *("-sc_threshold", "0", "-bf", "0"),
        *("-c:a", "aac", "-b:a", str(audio.bitrate_bps), "-ar", str(audio.sample_rate_hz)),
        *("-ac", str(audio.channels), "-af", "aresample=async=1"),
        *("-flags", "+global_header", "-f", "fifo", "-fifo_format", "flv", "-attempt_recovery", "1"),
        *("-recover_any_error", "1", "-recovery_wait_time", "0.1", "-drop_pkts_on_overflow", "1"),
        *("-restart_with_keyframe", "1", "-format_opts", "flvflags=no_duration_filesize"),
        *("-map", "0:v", "-map", "1:a", f"unix:{MEDIA_SOCKET}"),
    ]
