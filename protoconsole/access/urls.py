"""The addresses of signing in and of keys."""

from django.urls import path

from protoconsole.access import views
from protoconsole.access.permissions import viewer_required

app_name = "access"

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", views.Logout.as_view(), name="logout"),
    path("password/", viewer_required(views.Password.as_view()), name="password"),
    path("welcome/<str:token>/", views.welcome, name="welcome"),
    path("keys/", views.key_list, name="keys"),
    path("keys/<int:key_id>/revoke/", views.key_revoke, name="key-revoke"),
]
