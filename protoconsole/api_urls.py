"""The addresses of the API; below /api/ there is nothing else."""

from django.urls import path, re_path

from protoconsole.api import api
from protoconsole.api_errors import unknown_route

urlpatterns = [
    path("", api.urls),
    re_path(r"^api/", unknown_route),
]
