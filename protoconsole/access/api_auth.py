"""Keys at the door of the JSON API: 401 before 403 before 422."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.security import APIKeyHeader, HttpBearer

from protoconsole.access.errors import AccessError, BadSessionId, RoleForbidden, SessionTaken
from protoconsole.access.keys import actor_of, verify
from protoconsole.access.models import ApiKey
from protoconsole.access.requests import set_actor
from protoconsole.access.sessions import SESSION_HEADER, check_session
from protoconsole.actors import Role

UNAUTHENTICATED = "A live key is needed: Authorization: Bearer pc_…, or X-API-Key."


def allow(*roles: Role) -> Sequence["BearerKey | HeaderKey"]:
    """Say which roles may use a route: `@api.get(..., auth=allow(Role.OPERATOR, Role.VIEWER))`.

    The roles are checked where the key is, since the body is validated only after that. The view finds
    `request.actor`, and the key itself as `request.auth`.
    """
    return (BearerKey(roles), HeaderKey(roles))


class BearerKey(HttpBearer):
    """A key sent as `Authorization: Bearer`."""

    def __init__(self, roles: Sequence[Role]) -> None:
        super().__init__()
        self.roles = roles

    def authenticate(self, request: HttpRequest, token: str) -> ApiKey | None:
        return admit(request, token.strip(), self.roles)


class HeaderKey(APIKeyHeader):
    """A key sent as `X-API-Key`."""

    param_name = "X-API-Key"

    def __init__(self, roles: Sequence[Role]) -> None:
        super().__init__()
        self.roles = roles

    def authenticate(self, request: HttpRequest, key: str | None) -> ApiKey | None:
        return admit(request, key.strip(), self.roles) if key else None


def admit(request: HttpRequest, token: str, roles: Sequence[Role]) -> ApiKey | None:
    """Return the key of a token with the request's actor set, or None when there is no such live key.

    The session of the header is not claimed here: only the route knows whether the call is to leave a trace.
    Raises RoleForbidden, BadSessionId or SessionTaken.
    """
    key = verify(token)
    if key is None:
        return None
    if key.role not in roles:
        raise RoleForbidden(Role(key.role), roles)
    session_id = request.headers.get(SESSION_HEADER)
    if session_id is not None:
        check_session(key, session_id)
    set_actor(request, actor_of(key, session_id))
    return key


def install_errors(api: NinjaAPI) -> None:
    """Teach an API how to answer what this app raises."""

    def answer(request: HttpRequest, error: AccessError | type[AccessError]) -> HttpResponse:
        status, code = _status(error)
        return api.create_response(request, {"code": code, "detail": str(error)}, status=status)

    def unauthenticated(
        request: HttpRequest, error: AuthenticationError | type[AuthenticationError]
    ) -> HttpResponse:
        body = {"code": "unauthorized", "detail": UNAUTHENTICATED}
        response = api.create_response(request, body, status=401)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    api.add_exception_handler(AccessError, answer)
    api.add_exception_handler(AuthenticationError, unauthenticated)


def _status(error: AccessError | type[AccessError]) -> tuple[int, str]:
    match error:
        case RoleForbidden() | SessionTaken():
            return 403, "forbidden"
        case BadSessionId():
            return 422, "invalid"
        case _:
            return 400, "bad_request"
