"""The words of the session index, stemmed where this SQLite can, and the one row of its state."""

from django.apps.registry import Apps
from django.db import OperationalError, migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

STEMMED = (
    "CREATE VIRTUAL TABLE memory_session_words USING fts5("
    'words, tokenize="porter unicode61 remove_diacritics 2")'
)
PLAIN = "CREATE TABLE memory_session_words (words TEXT NOT NULL)"


def make(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        try:
            cursor.execute("SELECT fts5(NULL)")
        except OperationalError:  # SQLite without FTS5: the same calls, a search with LIKE
            cursor.execute(PLAIN)
        else:
            cursor.execute(STEMMED)
    apps.get_model("memory", "IndexState").objects.create(pk=1)


def unmake(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("DROP TABLE memory_session_words")
    apps.get_model("memory", "IndexState").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_sessions")]

    operations = [migrations.RunPython(make, unmake)]
