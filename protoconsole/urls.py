"""The addresses of the site."""

from django.urls import include, path

urlpatterns = [
    path("", include("protoconsole.access.urls")),
    path("", include("knowledge.urls")),
]

handler400 = "protoconsole.refusals.bad_request"
