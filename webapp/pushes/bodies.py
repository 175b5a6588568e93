"""The body of a request, packed or not, to bytes in memory, within limits for what arrives and what it becomes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from webapp.errors import ApiError
from webapp.pushes.profiles import MOST_INFLATED_BYTES

STEP = 64 << 10


def body_of(request: HttpRequest) -> bytes:
    """As the sender meant it: inflated if Content-Encoding says gzip."""
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise ApiError(422, f"Content-Encoding is {encoding!r}, gzip or none is needed.")
    arrived = bytearray()
    while step := request.read(STEP):
        arrived += step
        _check(len(arrived), settings.MAX_UPLOAD_BYTES, "The body")
    return _gunzip(arrived) if encoding == "gzip" else bytes(arrived)


def _gunzip(packed: bytes | bytearray) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        inflated = unpacker.decompress(packed, MOST_INFLATED_BYTES + 1)
    except zlib.error as error:
        raise ApiError(422, f"The body is no gzip data: {error}.") from None
    _check(len(inflated), MOST_INFLATED_BYTES, "The body, inflated,")
    if not unpacker.eof:
        raise ApiError(422, "The gzip data of the body ends too early.")
    return inflated


def _check(size: int, limit: int, what: str) -> None:
    if size > limit:
        raise ApiError(413, f"{what} has more than {limit:,} bytes, the limit is {limit:,} bytes; nothing was stored.")


def parts_of(body: bytes, content_type: str) -> Mapping[str, bytes]:
    """The parts of a form by name, files and plain fields alike."""
    about = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": len(body)}
    try:
        fields, files = MultiPartParser(about, io.BytesIO(body), [TemporaryFileUploadHandler()], "utf-8").parse()
    except MultiPartParserError as error:
        raise ApiError(422, f"The form can't be read: {error}.") from None
    plain = {name: str(text).encode() for name, text in fields.items()}
    return plain | {name: cast("UploadedFile[bytes]", file).read() for name, file in files.items()}
