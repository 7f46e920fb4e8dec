"""Who may see a page, and what everybody else is answered."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from protoconsole.access.models import Operator
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.actors import Role
from tests.conftest import PASSWORD_BACKEND

pytestmark = [pytest.mark.usefixtures("store"), pytest.mark.urls(__name__)]


def page(request: HttpRequest, number: int) -> HttpResponse:
    actor = request.actor  # type: ignore[attr-defined]
    return HttpResponse(f"{number} {actor.name} {actor.role} {actor.surface}")


urlpatterns = [
    path("", include("protoconsole.urls")),
    path("read/<int:number>/", viewer_required(page)),
    path("write/<int:number>/", operator_required(page)),
]

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/read/1/?q=a%20b"}


def test_an_operator_reads_and_writes(as_operator: Client) -> None:
    assert as_operator.get("/read/1/").text == "1 olive operator page"
    assert as_operator.post("/write/2/").text == "2 olive operator page"


def test_a_viewer_reads_only(as_viewer: Client) -> None:
    assert as_viewer.get("/read/1/").text == "1 vera viewer page"
    response = as_viewer.post("/write/2/")
    assert response.status_code == 403
    assert "Your account may look but not change anything." in response.text
    assert "<html" in response.text


def test_a_viewer_is_told_by_a_toast_and_the_page_stays(as_viewer: Client) -> None:
    response = as_viewer.post("/write/2/", headers=HTMX)
    assert response.status_code == 403
    assert "Your account may look but not change anything." in response.text
    assert 'hx-swap-oob="beforeend"' in response.text
    assert response.headers["HX-Reswap"] == "none"
    assert "<html" not in response.text


def test_a_history_restore_gets_the_whole_page(as_viewer: Client) -> None:
    response = as_viewer.post("/write/2/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert response.status_code == 403
    assert "<html" in response.text


def test_a_part_with_a_stale_form_is_a_toast(operator: Operator) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator, PASSWORD_BACKEND)
    response = client.post("/write/2/", headers=HTMX)
    assert response.status_code == 403
    assert "This form is no longer fresh." in response.text
    assert 'hx-swap-oob="beforeend"' in response.text
    assert response.headers["HX-Reswap"] == "none"
    assert "<html" not in response.text


@pytest.mark.parametrize("address", ["/read/1/?q=a%20b", "/write/1/?q=a%20b"])
def test_a_stranger_is_led_to_the_login_page_and_back(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response.headers["Location"] == "/login/?next=" + address.replace("/", "%2F").replace(
        "?q=a%20b", "%3Fq%3Da%2520b"
    )


def test_a_form_of_a_stranger_does_not_lead_back_to_itself(client: Client) -> None:
    assert client.post("/write/1/").headers["Location"] == "/login/"


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_part_of_a_page_is_never_the_login_form(client: Client, method: str) -> None:
    response = getattr(client, method)("/write/1/", headers=HTMX)
    assert response.headers["HX-Redirect"] == "/login/?next=%2Fread%2F1%2F%3Fq%3Da%2520b"
    assert "Location" not in response.headers
    assert response.content == b""


def test_an_address_of_another_site_is_not_where_to_go_back(client: Client) -> None:
    headers = {**HTMX, "HX-Current-URL": "https://evil.example/x"}
    assert client.get("/read/1/", headers=headers).headers["HX-Redirect"] == "/login/"


def test_a_key_does_not_open_a_page(client: Client, make_key) -> None:
    token = make_key(Role.OPERATOR)
    assert client.get("/read/1/", headers={"X-API-Key": token}).status_code == 302
