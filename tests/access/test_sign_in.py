"""Coming in and going out: by password, by a link that is good once, and not by trying often."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from protoconsole.access import operators
from protoconsole.access.errors import BadValue, NameTaken
from protoconsole.access.models import OneTimeLink, Operator
from protoconsole.access.operators import create_operator, issue_link
from protoconsole.actors import Role

pytestmark = pytest.mark.usefixtures("store")

PASSWORD = "correct horse battery staple"
LOGIN = "/login/"
KEYS = "/keys/"


def sign_in(client: Client, name: str = "olive", password: str = PASSWORD, address: str = "10.0.0.1", **more):
    fields = {"username": name, "password": password, **more}
    return client.post(LOGIN, fields, REMOTE_ADDR=address)


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_the_right_password_lets_in(client: Client, operator: Operator) -> None:
    assert client.get(LOGIN).status_code == 200
    response = sign_in(client)
    assert (response.status_code, response.headers["Location"]) == (302, "/")
    assert signed_in(client)


@pytest.mark.parametrize(
    ("name", "password"), [("olive", "wrong"), ("nobody", PASSWORD), ("", ""), ("a\0", "b")]
)
def test_anything_else_is_422_with_the_form(
    client: Client, operator: Operator, name: str, password: str
) -> None:
    response = sign_in(client, name, password)
    assert response.status_code == 422
    assert 'name="username"' in response.text
    assert not signed_in(client)


def test_a_shut_account_does_not_let_in(client: Client, operator: Operator) -> None:
    Operator.objects.update(is_active=False)
    assert sign_in(client).status_code == 422


def test_an_account_that_is_shut_while_signed_in_is_out(as_operator: Client) -> None:
    Operator.objects.update(is_active=False)
    assert as_operator.get(KEYS).status_code == 302


def test_after_signing_in_the_way_leads_back(client: Client, operator: Operator) -> None:
    assert 'name="next" value="/keys/?a=1"' in client.get(LOGIN, {"next": "/keys/?a=1"}).text
    assert sign_in(client, next="/keys/?a=1").headers["Location"] == "/keys/?a=1"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:evil",
        "\x00/",
    ],
)
def test_but_never_to_another_site(client: Client, operator: Operator, target: str) -> None:
    assert sign_in(client, next=target).headers["Location"] == "/"


def test_who_is_signed_in_is_not_asked_again(as_operator: Client) -> None:
    assert as_operator.get(LOGIN).headers["Location"] == "/"


def test_five_failures_of_a_name_at_an_address_lock_it_out(client: Client, operator: Operator) -> None:
    statuses = [sign_in(client, password="wrong").status_code for _ in range(5)]
    assert statuses == [422, 422, 422, 422, 429]
    locked = sign_in(client)
    assert (locked.status_code, locked.headers["Retry-After"]) == (429, "900")
    assert "Too many attempts" in locked.text
    assert not signed_in(client)


def test_the_lock_is_for_that_name_and_that_address(
    client: Client, operator: Operator, viewer: Operator
) -> None:
    for _ in range(5):
        sign_in(client, password="wrong")
    assert sign_in(client, name="vera").status_code == 302
    client.logout()
    assert sign_in(client, address="10.0.0.2").status_code == 302


def test_a_name_that_is_guessed_at_from_many_addresses_is_locked_everywhere(
    client: Client, operator: Operator, viewer: Operator
) -> None:
    tries = [sign_in(client, password="wrong", address=f"10.0.1.{n}").status_code for n in range(13)]
    assert tries == [422] * 13
    AccessAttempt.objects.update(failures_since_start=4)  # 13 times 4: below the limit of each address
    assert sign_in(client, address="10.0.2.1").status_code == 429
    assert sign_in(client, name="vera", address="10.0.2.1").status_code == 302
    client.logout()
    first = AccessAttempt.objects.order_by("pk")[0]
    AccessAttempt.objects.filter(pk=first.pk).update(failures_since_start=1)  # 49 in all
    assert sign_in(client, address="10.0.2.1").status_code == 302


def test_the_lock_of_a_name_ends_too(client: Client, operator: Operator) -> None:
    sign_in(client, password="wrong", address="10.0.1.1")
    AccessAttempt.objects.update(failures_since_start=50)
    assert sign_in(client, address="10.0.2.1").status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(client, address="10.0.2.1").status_code == 302


def test_the_lock_ends_after_a_quarter_of_an_hour(client: Client, operator: Operator) -> None:
    for _ in range(5):
        sign_in(client, password="wrong")
    start = AccessAttempt.objects.get().attempt_time
    AccessAttempt.objects.update(attempt_time=start - timedelta(minutes=14))
    assert sign_in(client).status_code == 429
    AccessAttempt.objects.update(attempt_time=start - timedelta(minutes=15))
    assert sign_in(client).status_code == 302


def test_trying_during_the_lock_does_not_prolong_it(client: Client, operator: Operator) -> None:
    for _ in range(5):
        sign_in(client, password="wrong")
    start = AccessAttempt.objects.get().attempt_time
    assert sign_in(client, password="wrong").status_code == 429
    assert AccessAttempt.objects.get().attempt_time == start


def test_a_password_is_never_written_down(client: Client, operator: Operator) -> None:
    sign_in(client, password="a wrong secret")
    assert "a wrong secret" not in str(AccessAttempt.objects.values().get())


def test_success_forgets_earlier_failures(client: Client, operator: Operator) -> None:
    for _ in range(2):
        for _ in range(4):
            assert sign_in(client, password="wrong").status_code == 422
        assert sign_in(client).status_code == 302
        client.logout()


def test_signing_out_takes_a_post(as_operator: Client) -> None:
    assert as_operator.get("/logout/").status_code == 405
    assert signed_in(as_operator)
    assert as_operator.post("/logout/").headers["Location"] == LOGIN
    assert not signed_in(as_operator)


@pytest.mark.parametrize("address", [LOGIN, "/logout/", "/password/", KEYS, "/keys/1/revoke/", "/welcome/x/"])
def test_a_form_of_another_site_does_nothing(operator: Operator, address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator, "django.contrib.auth.backends.ModelBackend")
    response = client.post(address, {"username": "olive", "password": PASSWORD})
    assert response.status_code == 403
    assert "This form is no longer fresh" in response.text


def test_a_link_lets_in_once_and_asks_for_a_password(client: Client) -> None:
    link = issue_link(create_operator("nora"))
    assert client.get(link).status_code == 200
    assert not signed_in(client)
    assert client.post(link).headers["Location"] == "/password/"
    new = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post("/password/", new).headers["Location"] == "/"
    client.logout()
    assert (client.get(link).status_code, client.post(link).status_code) == (410, 410)
    assert not signed_in(client)
    assert sign_in(client, "nora").status_code == 302


def test_looking_at_a_link_does_not_use_it_up(client: Client) -> None:
    link = issue_link(create_operator("nora"))
    assert [client.get(link).status_code, client.head(link).status_code] == [200, 200]
    assert client.post(link).status_code == 302


def test_a_link_is_kept_as_a_hash_only() -> None:
    token = issue_link(create_operator("nora")).split("/")[2]
    assert token not in str(OneTimeLink.objects.values().get())


@pytest.mark.parametrize(("hours", "status"), [(23, 302), (24, 410), (25, 410)])
def test_a_link_lasts_a_day(client: Client, monkeypatch: pytest.MonkeyPatch, hours: int, status: int) -> None:
    link = issue_link(create_operator("nora"))
    later = OneTimeLink.objects.get().expires_at - timedelta(hours=24) + timedelta(hours=hours)
    monkeypatch.setattr(operators.timezone, "now", lambda: later)
    assert client.post(link).status_code == status


@pytest.mark.parametrize("token", ["x", "0" * 43, "%00", "%F0%9F%92%A3"])
def test_an_unknown_link_is_410(client: Client, token: str) -> None:
    assert client.get(f"/welcome/{token}/").status_code == 410
    assert client.post(f"/welcome/{token}/").status_code == 410


def test_a_link_to_a_shut_account_is_410(client: Client) -> None:
    link = issue_link(create_operator("nora"))
    Operator.objects.update(is_active=False)
    assert client.post(link).status_code == 410


def test_two_uses_of_a_link_at_once_let_one_in() -> None:
    token = issue_link(create_operator("nora")).split("/")[2]
    assert [operators.redeem_link(token) is None for _ in range(2)] == [False, True]


def test_the_own_password_is_changed_with_the_old_one(as_operator: Client) -> None:
    new = "another long sentence"
    fields = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert as_operator.get("/password/").status_code == 200
    assert as_operator.post("/password/", fields).headers["Location"] == "/"
    as_operator.logout()
    assert (sign_in(as_operator).status_code, sign_in(as_operator, password=new).status_code) == (422, 302)


@pytest.mark.parametrize(
    "fields",
    [
        {"old_password": "wrong", "new_password1": "another long one", "new_password2": "another long one"},
        {"new_password1": "another long one", "new_password2": "another long one"},
        {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"},
        {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "different one"},
        {},
    ],
)
def test_and_not_without(as_operator: Client, fields: dict[str, str]) -> None:
    assert as_operator.post("/password/", fields).status_code == 422
    as_operator.logout()
    assert sign_in(as_operator).status_code == 302


def test_a_stranger_cannot_set_a_password(client: Client) -> None:
    assert client.post("/password/", {}).headers["Location"] == LOGIN


def test_an_account_has_a_role_and_a_hashed_password() -> None:
    vera = create_operator("vera", Role.VIEWER, PASSWORD)
    assert (vera.role, vera.check_password(PASSWORD), PASSWORD in vera.password) == ("viewer", True, False)


def test_an_account_without_a_password_has_none_that_works(client: Client) -> None:
    create_operator("nora")
    assert sign_in(client, "nora", "").status_code == 422
    assert not Operator.objects.get().has_usable_password()


def test_a_name_is_taken_once() -> None:
    create_operator("olive")
    with pytest.raises(NameTaken):
        create_operator(" olive ")


@pytest.mark.parametrize(
    ("name", "password", "field"),
    [
        ("", None, "name"),
        ("a b", None, "name"),
        ("a\0", None, "name"),
        ("x" * 151, None, "name"),
        ("olive", "", "password"),
        ("olive", "short", "password"),
        ("olive", "password123", "password"),
        ("olive-tree", "olive-tree", "password"),
    ],
)
def test_a_name_or_password_that_cannot_be_is_refused(name: str, password: str | None, field: str) -> None:
    with pytest.raises(BadValue) as caught:
        create_operator(name, Role.OPERATOR, password)
    assert caught.value.field == field
    assert not Operator.objects.exists()


def test_every_page_of_this_app_has_one_address() -> None:
    assert [reverse(f"access:{name}") for name in ("login", "logout", "password", "keys")] == [
        LOGIN,
        "/logout/",
        "/password/",
        KEYS,
    ]
