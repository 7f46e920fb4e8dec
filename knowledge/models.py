"""Django's view of the rows of memory. The store's schema is add-only SQL, see `knowledge.schema`."""

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
