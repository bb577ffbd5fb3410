"""Reads an uploaded run in a worker, checks it, and writes it anew."""

import io
from dataclasses import replace

import pyarrow as pa
from PIL import Image

from dashboard import limits
from dashboard.features.runs.view import LEFT_OUT
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import UPLOAD, Request, Result
from dashboard.storage import page_run
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import Bundle
from dashboard.storage.run import Description

_NOT_DECODED = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
_EXTRA_MEMORY = 1024  # MB: tables of 128 MB, and a picture of 8,000 x 8,000 px decoded twice


def perform(request: Request, context: Context) -> Result:
    """Read the page or the bundle ``upload:<sha256>`` that ``request.data`` names.

    A picture that cannot be decoded is left out, and named in the facts.

    Returns:
        Table ``page``: the file, written anew, and its picture; its record's ``description``.
    """
    data = Blobs().path(request.data.removeprefix(UPLOAD)).read_bytes()
    try:
        with limits.extra_memory(_EXTRA_MEMORY):
            page = page_run.read(data)
            panels = tuple(_with_pictures_anew(panel, context) for panel in page.panels)
            anew = {name: _picture_anew(data, name) for name, data in page.pictures.items()}
            kept = {name: data for name, data in anew.items() if data}
            picture = _picture_anew(page.picture, "picture.png")
            page = replace(page, panels=panels, pictures=kept, picture=picture)
            packed = page_run.write(page)
    except MemoryError as error:
        raise ValueError(f"the file needs more than {_EXTRA_MEMORY:,} MB to be read") from error
    schema = pa.schema([("packed", pa.large_binary()), ("picture", pa.large_binary())])
    return Result(
        tables={"page": pa.table([[packed], [page.picture]], schema=schema)},
        facts={"description": Description.of(page).model_dump_json(), "cacheable": False},
    )


def _with_pictures_anew(run: Bundle, context: Context) -> Bundle:
    pictures, left_out = {}, {}
    for number, (name, picture) in enumerate(run.pictures.items()):
        context.report(number / len(run.pictures), gettext_noop("Reading {name}", name=name))
        try:
            pictures[name] = _encoded_anew(picture, name)
        except _NOT_DECODED as error:
            left_out[name] = str(error)[:200] or type(error).__name__
    facts = {name: fact for name, fact in run.result.facts.items() if name != LEFT_OUT}
    result = replace(run.result, facts=facts | ({LEFT_OUT: left_out} if left_out else {}))
    return replace(run, result=result, pictures=pictures)


def _picture_anew(picture: bytes, name: str) -> bytes:
    """A picture of the page encoded anew; empty if it cannot be decoded."""
    try:
        return _encoded_anew(picture, name) if picture else b""
    except _NOT_DECODED:
        return b""


def _encoded_anew(picture: bytes, name: str) -> bytes:
    """Return a PNG with the same pixels and nothing else; other pictures are never decoded."""
    if not name.endswith(".png"):
        return picture
    with Image.open(io.BytesIO(picture), formats=["PNG"]) as opened:
        pixels = opened.convert("RGBA")
    pixels.info.clear()  # texts and colour profiles
    file = io.BytesIO()
    pixels.save(file, "PNG")
    return file.getvalue()
