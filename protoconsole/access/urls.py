"""The addresses of signing in and of keys."""

from django.urls import URLPattern

app_name = "access"

urlpatterns: list[URLPattern] = []
