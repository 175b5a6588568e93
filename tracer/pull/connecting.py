"""An address to a connection to it, once it is known where it leads and that this is allowed."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from tracer.pull.allowed import Address, Allowed
from tracer.pull.errors import PullError

CONNECT_WITHIN_S = 5.0
_PORT_BY_SCHEME = {"http": 80, "https": 443}


def connected(url: str, allowed: Allowed) -> tuple[socket.socket, Address]:
    """For the caller to close. It is made to an address that was checked, whatever the name is resolved to later.

    No proxy of the environment is used: it would be asked to go where we may not.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORT_BY_SCHEME[parts.scheme]
    addresses = _addresses(host, port)
    for address in addresses:
        allowed.check_url(url, address)
    reasons: list[str] = []
    for address in addresses:
        try:
            return socket.create_connection((str(address), port), timeout=CONNECT_WITHIN_S), address
        except TimeoutError:
            reasons.append(f"no connection within {CONNECT_WITHIN_S:g} s, the limit")
        except ConnectionRefusedError:
            reasons.append("nothing listens there (connection refused)")
        except OSError as error:
            reasons.append(error.strerror or type(error).__name__)
    raise PullError(reasons[0])


def _addresses(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise PullError(f"there is no host {host!r}") from None
    return [ipaddress.ip_address(str(place[0]).partition("%")[0]) for _, _, _, _, place in found]
