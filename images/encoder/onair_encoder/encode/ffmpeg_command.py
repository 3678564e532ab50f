"""The command line of ffmpeg: screen and sound server in, one H.264/AAC programme out. Pure."""

from __future__ import annotations

import math

from onair_crds.contract.program import Program
from onair_encoder.encode.captured_rate import RATE_OPTION
from onair_encoder.encode.codec_options import codec_options, encoded_rate
from onair_encoder.encode.progress import PROGRESS_OPTIONS
from onair_encoder.paths import DISPLAY, MEDIA_SOCKET, PULSE_SOCKET, SINK, START_GATE

SYNC = "aresample=async=960:min_comp=0.003"
"""Corrects audio that is off its timestamps by more than 3 ms, by 2 % at most.

While a browser starts the first timestamps of the audio are off by up to 100 ms,
and with `async=1` samples would be counted from there for ever.
"""

IN_STEP = "setpts='if(lt(N,5*FR)*lt(PTS*TB-N/FR,ld(0)-0.0005),print(st(0,PTS*TB-N/FR),32));PTS-ld(0)/TB'"
"""Numbers frames by when captures are due, and not by when the first of them was taken.

Captures are due at equal distances, and taken late where the processor is busy; also the first, whose time
is 0. The one of the first five seconds that is least late says how late that was; each new least is logged,
as the audio has to wait for as long.
"""

START_S, START_KEYFRAMES_S = 2.0, 0.25
"""At the start, and how far key frames are apart then. No segment is shorter than it."""

DROP_THRESHOLD = 0.3
"""A frame is dropped that is more than 0.7 frames behind the number that it would get.

By default that is 2.1: where frames were late, and others were encoded twice for them, all that followed were
numbered up to two frames late, for ever. A capture in time is on its number, so that the rest is room.
"""


def ffmpeg_command(program: Program) -> list[str]:
    """Captures the top left of the screen at the programme's size and rate.

    Its first input is empty: it ends when the screen is to be opened, see `StartGate`.
    `fifo` reconnects to the fan-out by itself.
    """
    video = program.video
    size = f"{video.width}x{video.height}"
    rate = str(encoded_rate(video.framerate))
    return [
        *("ffmpeg", "-hide_banner", "-nostdin", *PROGRESS_OPTIONS),
        *("-frame_drop_threshold", str(DROP_THRESHOLD)),
        *("-f", "ffmetadata", "-i", str(START_GATE)),
        *("-f", "x11grab", RATE_OPTION, rate, "-video_size", size, "-draw_mouse", "0"),
        *("-thread_queue_size", "64", "-probesize", "32", "-i", f"{DISPLAY}.0+0,0"),
        # Without isync ffmpeg moves each input's first packet to 0, whenever it came.
        *("-isync", "1", "-f", "pulse", "-server", f"unix:{PULSE_SOCKET}", "-fragment_size", "3840"),
        *("-thread_queue_size", "512", "-i", f"{SINK}.monitor"),
        *codec_options(program, IN_STEP),
        *("-force_key_frames:v", keyframes(program)),
        *("-fps_mode", "cfr", "-af", SYNC, "-f", "fifo", "-fifo_format", "flv", "-attempt_recovery", "1"),
        *("-recover_any_error", "1", "-recovery_wait_time", "0.1", "-drop_pkts_on_overflow", "1"),
        *("-restart_with_keyframe", "1", "-format_opts", "flvflags=no_duration_filesize"),
        *("-map", "1:v", "-map", "2:a", f"unix:{MEDIA_SOCKET}"),
    ]


def keyframes(program: Program) -> str:
    """Which frames are key frames: the programme's own, counted from the first, and closer ones at the start.

    A page is shown a little before or after the first frame. Whoever receives the stream has it from the next
    key frame on, and with only the programme's own that was up to a second later.
    """
    video = program.video
    step, start = max(1, round(video.framerate * START_KEYFRAMES_S)), math.floor(video.framerate * START_S)
    return f"expr:not(mod(n,{video.keyframe_interval_frames}))+lt(n,{start})*not(mod(n,{step}))"
