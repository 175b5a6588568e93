"""Django settings: one machine by default, PostgreSQL and Redis by environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from tracer.profile.model import Limits
from webapp.env import env_bool, env_int, env_list, env_str

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env_str("MEMFLAME_DATA", str(BASE_DIR / "var"), "Folder for database, blobs, queue files and secrets"))

DEBUG = env_bool("MEMFLAME_DEBUG", False, "Show tracebacks in the browser; never where others can reach the site")
ALLOWED_HOSTS = env_list("MEMFLAME_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "Host names the site answers to")
CSRF_TRUSTED_ORIGINS = env_list("MEMFLAME_TRUSTED_ORIGINS", "", "Origins with scheme, when behind a TLS proxy")


def _secret_key() -> str:
    """From the environment, else from the data folder (written there by `manage.py up`)."""
    key = env_str("MEMFLAME_SECRET_KEY", "", "Secret of sessions; default: the file secret_key in the data folder")
    if key:
        return key
    path = DATA_DIR / "secret_key"
    if path.exists():
        return path.read_text().strip()
    return "unsafe-until-manage-py-up-writes-one"


SECRET_KEY = _secret_key()
if (
    not DEBUG
    and SECRET_KEY.startswith("unsafe-")
    and set(ALLOWED_HOSTS) - {"localhost", "127.0.0.1", "[::1]", "testserver"}
):
    raise ImproperlyConfigured("MEMFLAME_SECRET_KEY is not set, and the site answers to more than this machine")

INSTALLED_APPS = [
    "webapp.teams",
    "webapp.hosts",
    "webapp.symbols",
    "webapp.runs",
    "webapp.pushes",
    "webapp.flamegraph",
    "webapp.compare",
    "webapp.sharing",
    "channels",
    "django_htmx",
    "csp",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "webapp.apps.FrontendFilesConfig",
    "django.contrib.humanize",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "webapp" / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webapp.context.site",
            ],
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
        },
    }
]


def _database(url: str) -> dict[str, Any]:
    """`sqlite:///path` or `postgres://user:password@host:port/name`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path),
            "OPTIONS": {
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
            "CONN_MAX_AGE": 60,
            # A file, since the live server and the worker of the tests are other connections.
            "TEST": {"NAME": unquote(parts.path) + ".test"},
        }
    if parts.scheme in ("postgres", "postgresql"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path.lstrip("/"),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
    raise ImproperlyConfigured(f"MEMFLAME_DATABASE_URL starts with {parts.scheme!r}, sqlite or postgres is needed")


DATABASES = {
    "default": _database(
        env_str("MEMFLAME_DATABASE_URL", f"sqlite://{DATA_DIR}/memflame.sqlite3", "sqlite:///path or postgres://…")
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env_str("MEMFLAME_REDIS_URL", "", "redis://… for broker and channel layer; empty: files, one web process")
BROKER_URL = REDIS_URL or f"memflame-files://{DATA_DIR}/broker"
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

AUTH_USER_MODEL = "teams.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(env_str("MEMFLAME_STATIC", str(DATA_DIR / "static"), "Folder of the collected static files"))
STATICFILES_DIRS = [BASE_DIR / "frontend"]
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]  # no files of packages
MEDIA_ROOT = DATA_DIR / "blobs"  # what arrived and the stored trees; never served by URL
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "webapp.static.JoinedStaticFilesStorage"},
}

HTTPS = env_bool("MEMFLAME_HTTPS", False, "The site is reached by https: secure cookies, HSTS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "font-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

MAX_SNAPSHOTS = env_int("MEMFLAME_MAX_SNAPSHOTS", 2000, "Snapshots of one run")
LIMITS = Limits(
    inflated_bytes=env_int("MEMFLAME_MAX_INFLATED_BYTES", 1 << 30, "Bytes of one upload after decompression"),
    line_bytes=env_int("MEMFLAME_MAX_LINE_BYTES", 16 << 20, "Bytes of one line of a text profile"),
    stack_frames=env_int("MEMFLAME_MAX_STACK_FRAMES", 65_536, "Frames of one stack"),
    name_bytes=env_int("MEMFLAME_MAX_NAME_BYTES", 64 << 10, "Bytes of one frame name"),
    lines=env_int("MEMFLAME_MAX_LINES", 5_000_000, "Lines of one text profile"),
    tree_nodes=env_int("MEMFLAME_MAX_TREE_NODES", 4_000_000, "Nodes of one call tree"),
    moments=MAX_SNAPSHOTS,
)
MAX_UPLOAD_BYTES = env_int("MEMFLAME_MAX_UPLOAD_BYTES", 64 << 20, "Bytes of one upload as it arrives")
MAX_SYMBOL_BYTES = env_int("MEMFLAME_MAX_SYMBOL_BYTES", 512 << 20, "Bytes of one file of symbols as it arrives")
MAX_SYMBOL_INFLATED_BYTES = env_int(
    "MEMFLAME_MAX_SYMBOL_INFLATED_BYTES", 2 << 30, "Bytes of one file of symbols after decompression"
)
MAX_PROJECT_SYMBOL_BYTES = env_int(
    "MEMFLAME_MAX_PROJECT_SYMBOL_BYTES", 16 << 30, "Bytes of all files of symbols of one project"
)
MAX_CONCURRENT_UPLOADS = env_int("MEMFLAME_MAX_CONCURRENT_UPLOADS", 8, "Uploads taken at once; more are told to retry")
PREVIEW_KEPT_S = env_int("MEMFLAME_PREVIEW_KEPT_S", 86_400, "Seconds a private preview is kept")
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_SNAPSHOTS  # of a form: each file becomes a snapshot
PUSH_INSTANCES = env_int("MEMFLAME_PUSH_INSTANCES", 100, "Instances that push to one project at a time")
PUSH_SNAPSHOTS_AN_HOUR = env_int("MEMFLAME_PUSH_SNAPSHOTS_AN_HOUR", 6000, "Snapshots pushed to one project an hour")
PUSH_NODES = env_int("MEMFLAME_PUSH_NODES", 20_000_000, "Nodes of all whole trees pushed to one project")
PUSH_WHOLE_S = env_int("MEMFLAME_PUSH_WHOLE_S", 86_400, "Seconds until a pushed tree thins out to its overview")
PUSH_SILENT_S = env_int("MEMFLAME_PUSH_SILENT_S", 600, "Seconds without a push after which a rolling run ends")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 << 20  # forms and JSON; uploads are streamed and have MAX_UPLOAD_BYTES

LOG_LEVEL = env_str("MEMFLAME_LOG_LEVEL", "INFO", "Python log level")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008", "security.W012", "security.W016"]  # HTTPS is a setting
