"""What the console keeps of sessions: the index of their summaries, and the threads that are not retired."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from memory.types import SessionCandidate

MAX_ID_CHARS = 200
MAX_MODEL_CHARS = 200


class IndexedSession(models.Model):
    """A summary file as it was when it was last read. Its words are in `memory_session_words`, by this id."""

    session_id = models.CharField(max_length=MAX_ID_CHARS, unique=True)
    file_name = models.CharField(max_length=255)
    mtime_ns = models.BigIntegerField()
    size = models.BigIntegerField()
    inode = models.BigIntegerField()
    timestamp = models.CharField(max_length=40)
    surface = models.CharField(max_length=40)
    topic = models.CharField(max_length=80)
    message_count = models.IntegerField()
    background = models.BooleanField()
    readable = models.BooleanField()
    reason = models.CharField(max_length=200)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-timestamp", "-session_id"], name="session_newest"),
            models.Index(
                fields=["-timestamp", "-session_id"],
                condition=models.Q(readable=True, background=False),
                name="session_newest_in_digest",
            ),
        ]

    def __str__(self) -> str:
        return self.session_id

    @property
    def candidate(self) -> SessionCandidate:
        """The session as the digest tells it."""
        return SessionCandidate(self.session_id, self.timestamp, self.surface, self.topic, self.message_count)


class IndexState(models.Model):
    """One row: how far the index has followed the folder, and how often it has changed.

    `folder_stamp` is None while the folder has to be looked through again.
    """

    folder_stamp = models.BigIntegerField(null=True)
    version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"version {self.version}"


class DeletedSummary(models.Model):
    """A summary that an operator deleted, as long as it can be brought back."""

    session_id = models.CharField(max_length=MAX_ID_CHARS, unique=True)
    file_name = models.CharField(max_length=255)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)

    def __str__(self) -> str:
        return self.session_id


class Thread(models.Model):
    """A conversation that is not retired. `incognito` is that of its latest turn."""

    session_id = models.CharField(max_length=MAX_ID_CHARS, unique=True)
    surface = models.CharField(max_length=40, default="")
    trace_id = models.CharField(max_length=200, default="")
    incognito = models.BooleanField(default=False)
    by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, db_index=True)
    working_state = models.JSONField(null=True)

    def __str__(self) -> str:
        return self.session_id


class Message(models.Model):
    """One message of a thread, already without reasoning, credentials and our own blocks."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="messages")
    message_id = models.CharField(max_length=200, default="")
    role = models.CharField(max_length=16)
    content = models.TextField()
    name = models.CharField(max_length=200, default="")
    tool_call_id = models.CharField(max_length=200, default="")
    tool_calls = models.JSONField(default=list)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["thread", "message_id"],
                condition=~models.Q(message_id=""),
                name="one_message_of_an_id",
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} in {self.thread_id}"


class HiddenMessage(models.Model):
    """A message of a thread that was said incognito: a keyed digest, and none of its words."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="hidden")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["thread", "digest"], name="one_digest_of_a_hidden_message")
        ]

    def __str__(self) -> str:
        return f"hidden in {self.thread_id}"


class ModelWindow(models.Model):
    """How many tokens a model's window holds, as its gateway told; None while it has not been told."""

    name = models.CharField(max_length=MAX_MODEL_CHARS, unique=True)
    tokens = models.IntegerField(null=True)
    attempts = models.IntegerField(default=0)
    ask_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
