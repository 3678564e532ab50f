"""Serves the files of the compositor, which are in the image: a browser that restarts needs nobody else."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from onair_crds.contract.pod import COMPOSITOR_PATH

INDEX = "index.html"


class PageFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add_to(self, app: web.Application) -> None:
        app.router.add_get(COMPOSITOR_PATH + "{path:.*}", self._file)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        folder = self._folder.resolve()
        file = (folder / (request.match_info["path"] or INDEX)).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(file, headers={"Cache-Control": "no-cache"})
