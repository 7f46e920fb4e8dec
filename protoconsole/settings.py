"""Django's settings, all of them from the environment and the instance's configuration file."""

import os
from pathlib import Path

from csp.constants import NONE, SELF
from django.contrib.messages import ERROR, INFO, SUCCESS, WARNING
from django.utils.functional import SimpleLazyObject

from protoconsole.databases import database_settings
from protoconsole.instance import load_instance
from protoconsole.logs import LOGGING as LOGGING
from protoconsole.secret import secret_key
from protoconsole.web import allowed_hosts, base_path, trusted_origins

ROOT = Path(__file__).resolve().parent.parent
INSTANCE = load_instance(os.environ)
BASE_PATH = base_path(os.environ)
DEBUG = os.environ.get("PROTOCONSOLE_DEBUG") == "1"
# Files straight from static/, without hashed names: for work on the pages and for tests.
PLAIN_STATIC = DEBUG or os.environ.get("PROTOCONSOLE_PLAIN_STATIC") == "1"

# Lazy, so that a command which needs no key makes no file.
SECRET_KEY = SimpleLazyObject(lambda: secret_key(INSTANCE.paths.secret_key_file))
ALLOWED_HOSTS = allowed_hosts(os.environ)
CSRF_TRUSTED_ORIGINS = trusted_origins(os.environ)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "ninja",
    "protoconsole",
    "protoconsole.access",
    "knowledge",
    "memory",
]

MIDDLEWARE = [
    "protoconsole.middleware.BasePathMiddleware",
    "protoconsole.metrics.MetricsMiddleware",
    "protoconsole.api_errors.ApiErrorsMiddleware",
    "protoconsole.middleware.SecureCookiesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "protoconsole.middleware.NoStoreMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "protoconsole.urls"
WSGI_APPLICATION = "protoconsole.wsgi.application"
FORCE_SCRIPT_NAME = BASE_PATH or None

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "protoconsole.access.context.signed_in",
                "knowledge.context.rail",
            ]
        },
    }
]

DATABASES = database_settings(INSTANCE.paths)
DATABASE_ROUTERS = ["protoconsole.databases.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# That store's schema is add-only SQL of its own, since another program writes the same file.
MIGRATION_MODULES = {"knowledge": None}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = f"{BASE_PATH}/static/"
STATICFILES_DIRS = [ROOT / "static"]
STATIC_ROOT = None if PLAIN_STATIC else ROOT / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if PLAIN_STATIC
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = PLAIN_STATIC
WHITENOISE_AUTOREFRESH = DEBUG

AUTH_USER_MODEL = "access.Operator"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "access:login"
LOGIN_REDIRECT_URL = f"{BASE_PATH}/"

AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "protoconsole.access.views.locked_out"
AXES_ENABLE_ADMIN = False
AXES_HANDLER = "protoconsole.access.throttle.Throttle"

SESSION_COOKIE_NAME = "protoconsole_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_PATH = f"{BASE_PATH}/"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "protoconsole_csrf"
CSRF_COOKIE_PATH = f"{BASE_PATH}/"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "protoconsole.refusals.not_fresh"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
# The levels by the names that the components have for them.
MESSAGE_TAGS = {INFO: "info", SUCCESS: "good", WARNING: "warn", ERROR: "danger"}

DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024 * 1024  # also what the server takes of any one request

X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
