"""The page of keys: seen, made and revoked by operators only."""

import re

import pytest
from django.test import Client

from protoconsole.access.keys import create_key, revoke, verify
from protoconsole.access.models import ApiKey
from protoconsole.actors import Role

pytestmark = pytest.mark.usefixtures("store")

KEYS = "/keys/"
NEW = {"name": "roxy", "role": "agent"}


def test_the_list_shows_what_a_key_is_and_not_the_key(as_operator: Client) -> None:
    key, token = create_key("roxy", Role.AGENT, created_by="olive")
    create_key("old", Role.PLUGIN, may_confirm=True, created_by="olive")
    revoke("old")
    text = as_operator.get(KEYS).text
    assert all(
        word in text for word in ("roxy", "agent", key.prefix, "never", "old", "may confirm", "revoked")
    )
    assert token not in text


def test_without_keys_the_page_says_how_to_make_one(as_operator: Client) -> None:
    assert "No keys yet" in as_operator.get(KEYS).text


def test_a_new_key_is_shown_once(as_operator: Client) -> None:
    response = as_operator.post(KEYS, NEW)
    token = re.search(r"pc_a[\w-]{43}", response.text)
    assert response.status_code == 201
    assert token is not None
    key = verify(token.group())
    assert key is not None
    assert (key.name, key.role, key.created_by, key.may_confirm) == ("roxy", "agent", "olive", False)
    assert token.group() not in as_operator.get(KEYS).text


def test_a_plugin_may_be_let_confirm(as_operator: Client) -> None:
    assert as_operator.post(KEYS, {"name": "p", "role": "plugin", "may_confirm": "on"}).status_code == 201
    assert ApiKey.objects.get().may_confirm


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "name"),
        ({**NEW, "name": " "}, "name"),
        ({**NEW, "name": "x" * 101}, "name"),
        ({**NEW, "name": "a\0b"}, "name"),
        ({**NEW, "name": "taken"}, "name"),
        ({**NEW, "role": "root"}, "role"),
        ({**NEW, "may_confirm": "on"}, "may_confirm"),
    ],
)
def test_a_key_that_cannot_be_is_422_with_the_form(
    as_operator: Client, fields: dict[str, str], field: str
) -> None:
    create_key("taken", Role.AGENT, created_by="olive")
    response = as_operator.post(KEYS, fields)
    assert response.status_code == 422
    assert f'id="id_{field}_error"' in response.text
    assert ApiKey.objects.count() == 1


def test_a_name_is_shown_as_text(as_operator: Client) -> None:
    create_key("<script>alert(1)</script>", Role.AGENT, created_by="<b>x</b>")
    text = as_operator.get(KEYS).text
    assert "<script>alert" not in text
    assert "<b>x</b>" not in text


def test_a_revoked_key_is_shut_out(as_operator: Client) -> None:
    key, token = create_key("roxy", Role.AGENT, created_by="olive")
    response = as_operator.post(f"/keys/{key.pk}/revoke/", follow=True)
    assert "roxy is revoked" in response.text
    assert verify(token) is None


def test_a_key_that_somebody_else_revoked_is_409_with_the_list(as_operator: Client) -> None:
    key, _ = create_key("roxy", Role.AGENT, created_by="olive")
    revoke("roxy")
    response = as_operator.post(f"/keys/{key.pk}/revoke/")
    assert response.status_code == 409
    assert "was revoked already" in response.text


@pytest.mark.parametrize(
    ("address", "status"), [("/keys/999/revoke/", 404), ("/keys/x/revoke/", 404), ("/keys//revoke/", 404)]
)
def test_a_key_that_is_not_there_is_404(as_operator: Client, address: str, status: int) -> None:
    assert as_operator.post(address).status_code == status


def test_an_id_too_large_for_the_store_is_404(as_operator: Client) -> None:
    assert as_operator.post(f"/keys/{10**30}/revoke/").status_code == 404


def test_looking_at_the_address_revokes_nothing(as_operator: Client) -> None:
    key, _ = create_key("roxy", Role.AGENT, created_by="olive")
    assert as_operator.get(f"/keys/{key.pk}/revoke/").status_code == 405


def test_a_viewer_neither_sees_nor_changes_keys(as_viewer: Client) -> None:
    key, token = create_key("roxy", Role.AGENT, created_by="olive")
    answers = [as_viewer.get(KEYS), as_viewer.post(KEYS, NEW), as_viewer.post(f"/keys/{key.pk}/revoke/")]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert "roxy" not in "".join(answer.text for answer in answers)
    assert verify(token) == key
    assert ApiKey.objects.count() == 1


def test_a_stranger_neither_sees_nor_changes_keys(client: Client) -> None:
    key, _ = create_key("roxy", Role.AGENT, created_by="olive")
    answers = [client.get(KEYS), client.post(KEYS, NEW), client.post(f"/keys/{key.pk}/revoke/")]
    assert [answer.status_code for answer in answers] == [302, 302, 302]
    assert all(answer.headers["Location"].startswith("/login/") for answer in answers)
    assert ApiKey.objects.filter(revoked_at=None).count() == 1


def test_the_number_of_queries_does_not_grow_with_the_keys(
    as_operator: Client, django_assert_num_queries
) -> None:
    for number in range(3):
        create_key(f"k{number}", Role.AGENT, created_by="olive")
    with django_assert_num_queries(3):  # the session, the person, the keys
        as_operator.get(KEYS)
    for number in range(30):
        create_key(f"m{number}", Role.AGENT, created_by="olive")
    with django_assert_num_queries(3):
        as_operator.get(KEYS)
