"""The addresses of the pages of what is known."""

from django.urls import path

from knowledge.views import changes, chunk, overview, review, sources, store

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
    path("chunks/<int:chunk_id>/", chunk.page, name="chunk"),
    path("chunks/<int:chunk_id>/verdict/", review.verdict, name="verdict"),
    path("chunks/<int:chunk_id>/edit/", chunk.edit, name="edit"),
    path("chunks/<int:chunk_id>/settings/", chunk.settings, name="settings"),
    path("chunks/<int:chunk_id>/delete/", chunk.delete, name="delete"),
    path("changes/<str:batch>/undo/", changes.undo, name="undo"),
]
