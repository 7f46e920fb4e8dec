"""The addresses of the pages of what is delivered."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from memory.views import hot, injections, preview, sessions
from protoconsole.session_ids import is_session_id


class SessionId(StringConverter):
    """What can name a session; anything else is no address."""

    def to_python(self, value: str) -> str:
        if not is_session_id(value):
            raise ValueError(value)
        return value


register_converter(SessionId, "session_id")

app_name = "memory"
urlpatterns = [
    path("sessions/", sessions.listing, name="sessions"),
    path("sessions/<session_id:session_id>/", sessions.session, name="session"),
    path("sessions/<session_id:session_id>/delete/", sessions.delete, name="session-delete"),
    path("sessions/<session_id:session_id>/restore/", sessions.restore, name="session-restore"),
    path("hot/", hot.listing, name="hot"),
    path("hot/<row_id:chunk_id>/unpin/", hot.unpin, name="hot-unpin"),
    path("hot/<row_id:chunk_id>/expiry/", hot.expiry, name="hot-expiry"),
    path("hot/<row_id:chunk_id>/delete/", hot.delete, name="hot-delete"),
    path("injections/", injections.listing, name="injections"),
    path("injections/<row_id:injection_id>/", injections.turn, name="turn"),
    path("injections/<row_id:injection_id>/text/", injections.text, name="turn-text"),
    path("preview/", preview.preview, name="preview"),
]
