"""The site as ASGI: Django behind the upload gate, and the live sockets of run pages."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()  # loads the models, which the consumers import

from django.urls import path  # noqa: E402

from webapp.middleware import UploadGate  # noqa: E402
from webapp.runs.live import RunConsumer  # noqa: E402
from webapp.threads import KeptThreads  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": UploadGate(
            KeptThreads(django_application),
            max_bytes=settings.MAX_UPLOAD_BYTES,
            max_symbol_bytes=settings.MAX_SYMBOL_BYTES,
            max_uploads=settings.MAX_CONCURRENT_UPLOADS,
        ),
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter([path("ws/runs/<str:run_id>", RunConsumer.as_asgi())]))
        ),
    }
)
