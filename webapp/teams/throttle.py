"""Failed sign-ins are counted, too many are refused for a while; in the database, so all web processes agree."""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import datetime, timedelta

from django.utils import timezone

from webapp.teams.models import SignInTry

WINDOW = timedelta(minutes=5)
TRIES_A_NAME = 5
TRIES_AN_ADDRESS = 20


class TooManyTries(Exception):
    """The password was not looked at; it will be from that moment on."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


def begin(name: str, address: str) -> None:
    """Count a try before its password is checked, so that many at once are no way around the limit.

    What is typed as a name may be no user's, or a password in the wrong field: only its hash is kept.
    """
    now = timezone.now()
    SignInTry.objects.filter(at__lte=now - WINDOW).delete()
    new = SignInTry.objects.create(name=_hashed(name), address=_network(address), at=now)
    until = max(_until({"name": new.name}, TRIES_A_NAME, new), _until({"address": new.address}, TRIES_AN_ADDRESS, new))
    if until > now:
        new.delete()
        raise TooManyTries(until)


def succeeded(name: str) -> None:
    SignInTry.objects.filter(name=_hashed(name)).delete()


def _until(key: dict[str, str], most: int, new: SignInTry) -> datetime:
    """When the oldest of the tries that are allowed is forgotten; `new` itself is one that is asked for."""
    earlier = SignInTry.objects.filter(**key, pk__lt=new.pk, at__gt=new.at - WINDOW).order_by("-pk")
    oldest = earlier.values_list("at", flat=True)[most - 1 : most].first()
    return oldest + WINDOW if oldest else new.at


def _hashed(name: str) -> str:
    return hashlib.sha256(name.casefold().encode("utf-8", "surrogatepass")).hexdigest()


def _network(address: str) -> str:
    """An IPv6 client has a whole /64 to choose its address from."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:45]
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return str(ipaddress.ip_network((parsed, 64 if parsed.version == 6 else 32), strict=False).network_address)
