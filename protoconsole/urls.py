"""The addresses of the site."""

from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("protoconsole.access.urls")),
    path("", include("knowledge.urls")),
    path("", include("memory.urls")),
    path("", include("protoconsole.api_urls")),
]
if settings.DEBUG:
    from protoconsole.patterns import patterns  # for whoever works on the pages, and nobody else

    urlpatterns.append(path("patterns/", patterns, name="patterns"))

handler400 = "protoconsole.refusals.bad_request"
