"""The addresses of the pages of what is known."""

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from knowledge.views import changes, chunk, overview, review, sources, store


class RowId(IntConverter):
    """An id that SQLite can hold; a longer number names no row."""

    regex = "[0-9]{1,18}"


register_converter(RowId, "row_id")

app_name = "knowledge"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("review/", review.queue, name="review"),
    path("review/verdicts/", review.verdicts, name="verdicts"),
    path("store/", store.browse, name="store"),
    path("store/export/<str:form>/", store.export, name="export"),
    path("store/new/", store.note, name="note"),
    path("store/sources/", sources.listing, name="sources"),
    path("store/sources/delete/", sources.delete, name="source-delete"),
    path("store/sources/restore/", sources.restore, name="source-restore"),
    path("chunks/<row_id:chunk_id>/", chunk.page, name="chunk"),
    path("chunks/<row_id:chunk_id>/verdict/", review.verdict, name="verdict"),
    path("chunks/<row_id:chunk_id>/edit/", chunk.edit, name="edit"),
    path("chunks/<row_id:chunk_id>/settings/", chunk.settings, name="settings"),
    path("chunks/<row_id:chunk_id>/delete/", chunk.delete, name="delete"),
    path("chunks/<row_id:chunk_id>/reinstate/", chunk.reinstate, name="reinstate"),
    path("changes/<str:batch>/undo/", changes.undo, name="undo"),
]
