"""Who may call what over HTTP, written out by hand: neither made from the program's table nor read by it."""

from __future__ import annotations

from onair_crds.resources.enums import Role

_TABLE = """
                            HOST COHOST CONTRIBUTOR GUEST VIEWER RENDERER IMPERSONATE PLATFORM
GetCollections               x      .        .        .     .       .          x         .
CreateCollection             x      .        .        .     .       .          x         .
GetCollection                x      .        .        .     .       .          x         .
UpdateCollection             x      .        .        .     .       .          x         .
DeleteCollection             x      .        .        .     .       .          x         .
CreateProject                x      .        .        .     .       .          x         .
GetProject                   x      x        x        x     x       x          x         .
UpdateProject                x      x        x        .     .       .          x         .
DeleteProject                x      .        .        .     .       .          x         .
StartProjectBroadcast        x      x        .        .     .       .          x         .
StopProjectBroadcast         x      x        .        .     .       .          x         .
GetProjectBroadcastStatus    x      x        x        x     x       x          x         .
GetProjectBroadcastSnapshot  x      x        x        .     .       .          x         .
StartProjectWebRtc           x      x        .        .     .       .          x         .
StopProjectWebRtc            x      x        .        .     .       .          x         .
CreateWebRtcAccessToken      x      x        x        x     x       x          x         .
CreateDestination            x      x        .        .     .       .          x         .
GetDestination               x      x        x        .     .       .          x         .
UpdateDestination            x      x        .        .     .       .          x         .
DeleteDestination            x      x        .        .     .       .          x         .
GetSources                   x      .        .        .     .       .          x         .
CreateSource                 x      .        .        .     .       .          .         .
GetSource                    x      .        .        .     .       .          x         .
GetSourceHlsPreview          x      .        .        .     .       .          x         .
UpdateSource                 x      .        .        .     .       .          x         .
DeleteSource                 x      .        .        .     .       .          x         .
AddSourceToProject           x      x        .        .     .       .          x         .
UpdateSourceInProject        x      x        .        .     .       .          x         .
RemoveSourceFromProject      x      x        .        .     .       .          x         .
RefreshAccessToken           x      x        x        x     x       x          x         .
CreateGuestAccessToken       x      x        x        .     .       .          .         .
RevokeAccessToken            x      x        x        x     x       x          x         .
CreateGuestCode              x      x        .        .     .       .          .         .
GetGuestCodes                x      x        .        .     .       .          .         .
GetGuestCode                 x      x        .        .     .       .          .         .
DeleteGuestCode              x      x        .        .     .       .          .         .
ListLayouts                  x      x        x        .     .       x          x         .
CreateLayout                 x      x        x        .     .       .          x         .
GetLayout                    x      x        x        .     .       x          x         .
UpdateLayout                 x      x        x        .     .       .          x         .
DeleteLayout                 x      x        x        .     .       .          x         .
ListLayers                   x      x        x        .     .       x          x         .
CreateLayer                  x      x        x        .     .       .          x         .
Batch                        x      x        x        .     .       .          x         .
GetLayer                     x      x        x        .     .       x          x         .
UpdateLayer                  x      x        x        .     .       .          x         .
DeleteLayer                  x      x        x        .     .       .          x         .
PublishEvent                 x      x        x        x     .       x          x         .
StreamEvents                 x      x        x        x     x       x          x         .
"""


def _read(table: str) -> dict[Role, frozenset[str]]:
    head, *rows = (line.split() for line in table.strip().splitlines())
    return {
        Role[role]: frozenset(row[0] for row in rows if row[column] == "x")
        for column, role in enumerate(head, 1)
    }


WHO_MAY = _read(_TABLE)
"""For each role, the operations that it may call."""
