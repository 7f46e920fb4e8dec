"""The WSGI callable that servers load."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "protoconsole.settings")
application = get_wsgi_application()
