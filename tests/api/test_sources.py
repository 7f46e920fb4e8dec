"""Changes of many rows at once, and counts."""

from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS, added

K = "/api/knowledge"


def test_a_source_is_deleted_and_restored(operator: Caller) -> None:
    for content in ("A.", "B."):
        added(operator, content, source="notes.md")
    added(operator, "C.", source="other.md")
    gone = operator.post(f"{K}/delete-by-source", {"source": "notes.md"})
    assert (gone.status, gone.body["count"], set(gone.body)) == (200, 2, {"count", "batch", "detail"})
    assert [row["content"] for row in operator.get(CHUNKS).body["items"]] == ["C."]
    back = operator.post(f"{K}/restore-by-source", {"source": "notes.md"}).body
    assert (back["count"], back["batch"] != gone.body["batch"]) == (2, True)
    assert len(operator.get(CHUNKS).body["items"]) == 3


def test_an_unknown_source_changes_nothing_and_says_so(operator: Caller) -> None:
    for call in ("delete-by-source", "restore-by-source"):
        reply = operator.post(f"{K}/{call}", {"source": "nowhere"})
        assert (reply.status, reply.body["count"], reply.body["batch"]) == (200, 0, None)
        assert reply.body["detail"].startswith("Nothing was changed: ")


def test_an_empty_source_or_domain_is_refused(operator: Caller) -> None:
    row = added(operator)
    for call, body in (
        ("delete-by-source", {"source": " "}),
        ("restore-by-source", {"source": ""}),
        ("purge", {"domain": ""}),
        ("purge", {"domain": "general", "before": "yesterday"}),
        ("purge", {"domain": "general", "before": ""}),
        ("purge", {}),
        ("delete-by-source", {"source": None}),
    ):
        assert operator.post(f"{K}/{call}", body).status == 422, (call, body)
    assert operator.get(f"{CHUNKS}/{row['id']}").body["valid"] is True


def test_a_purge_spares_what_operators_wrote_or_confirmed(operator: Caller, plugin: Caller) -> None:
    added(operator, "By an operator.", domain="d")
    confirmed = added(plugin, "Confirmed.", domain="d")
    operator.post(f"/api/memory/chunks/{confirmed['id']}/review", {"state": "confirmed"})
    added(plugin, "Pending.", domain="d")
    assert plugin.post(f"{K}/purge", {"domain": "d", "before": "2001-01-01"}).body["count"] == 0
    assert plugin.post(f"{K}/purge", {"domain": "d"}).body["count"] == 1
    kept = operator.get(CHUNKS).body["items"]
    assert [row["content"] for row in kept] == ["Confirmed.", "By an operator."]


def test_counts_are_by_every_dimension(operator: Caller, plugin: Caller, viewer: Caller) -> None:
    added(operator, domain="preferences", namespace="ops", source="s")
    rejected = added(plugin, domain="finding", source="s")
    operator.post(f"/api/memory/chunks/{rejected['id']}/review", {"state": "rejected"})
    assert viewer.get(f"{K}/stats").body == {
        "total": 2,
        "domain": {"finding": 1, "preferences": 1},
        "kind": {"fact": 1, "profile": 1},
        "trust": {"external": 1, "operator": 1},
        "review_state": {"confirmed": 1, "rejected": 1},
        "policy": {"retrieved": 2},
        "namespace": {"": 1, "ops": 1},
        "state": {"confirmed": 1, "rejected": 1},
        "source": {"s": 2},
        "index_pending": 0,
    }
