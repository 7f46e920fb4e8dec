"""Django's view of the knowledge store. Its schema is add-only SQL, see `knowledge.schema`."""

from django.db import models


class ChunkRow(models.Model):
    """One row of memory, in the layout that the store shares with the agent's own program."""

    id = models.AutoField(primary_key=True)
    content = models.TextField()
    domain = models.TextField()
    heading = models.TextField(null=True)
    source = models.TextField(null=True)
    source_type = models.TextField(null=True)
    finding_type = models.TextField(null=True)
    namespace = models.TextField(null=True)
    epoch = models.TextField(null=True)
    created_at = models.TextField()
    updated_at = models.TextField()
    invalidated_at = models.TextField(null=True)
    invalidation_reason = models.TextField(null=True)
    memory_kind = models.TextField(null=True)
    subject = models.TextField(null=True)
    review_state = models.TextField(null=True)
    expires_at = models.TextField(null=True)
    delivery_policy = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "chunks"

    def __str__(self) -> str:
        return f"#{self.pk}"


class LinkRow(models.Model):
    """A row that speaks of another one: a proposal, or a likeness to something rejected."""

    chunk_id = models.IntegerField(primary_key=True)
    relation = models.TextField()
    target_id = models.IntegerField()

    class Meta:
        managed = False
        db_table = "pc_links"

    def __str__(self) -> str:
        return f"#{self.chunk_id} {self.relation} #{self.target_id}"


class AuditRow(models.Model):
    """One change of one chunk. Triggers refuse to change or remove it."""

    id = models.AutoField(primary_key=True)
    at = models.TextField()
    batch = models.TextField()
    action = models.TextField()
    chunk_id = models.IntegerField()
    actor = models.TextField()
    role = models.TextField()
    surface = models.TextField()
    session_id = models.TextField(null=True)
    before = models.JSONField()
    after = models.JSONField()
    note = models.TextField(null=True)
    undoes = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "pc_audit"

    def __str__(self) -> str:
        return f"{self.action} #{self.chunk_id}"


class SourceCount(models.Model):
    """How many chunks a source has, and how many of them wait in the grace time of a delete."""

    source = models.TextField(primary_key=True)
    total = models.IntegerField()
    deleted = models.IntegerField()

    class Meta:
        managed = False
        db_table = "pc_sources"

    def __str__(self) -> str:
        return self.source


class Marker(models.Model):
    """A marker of the store."""

    key = models.TextField(primary_key=True)
    value = models.TextField(null=True)

    class Meta:
        managed = False
        db_table = "_kb_meta"

    def __str__(self) -> str:
        return self.key
