"""A project with every field, as HTTP takes it."""

from __future__ import annotations

from onair_crds.shapes import JsonObject

EVERYTHING: JsonObject = {
    "metadata": {"title": "11:00"},
    "rendering": {
        "video": {
            "height": 1080,
            "width": "1920",
            "framerate": 25,
            "colorSpace": "VIDEO_COLOR_SPACE_YUV420",
        },
        "audio": {"channelLayout": "AUDIO_CHANNEL_LAYOUT_STEREO"},
        "quality": "RENDERING_QUALITY_HIGH",
        "targetLatency": 800,
        "complexity": -2,
    },
    "encoding": {
        "video": {
            "codec": "VIDEO_CODEC_H264",
            "profile": "VIDEO_CODEC_PROFILE_MAIN",
            "rateControl": {
                "mode": "VIDEO_CODEC_RATE_CONTROL_MODE_CBR",
                "targetBitrate": "6000000",
                "maxKeyFrameInterval": 50,
            },
        },
        "audio": {"codec": "AUDIO_CODEC_AAC"},
    },
    "composition": {"external": {"url": "https://graphics.example.org/stage?x=1"}},
    "maxDuration": 3_600_000,
    "webrtc": {"hosted": {"enabled": False}},
    "location": {"latitude": 52.5, "longitude": -13.25},
}
