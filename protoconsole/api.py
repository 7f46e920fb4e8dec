"""The JSON API: which routers it has, how it reads and how it refuses."""

from csp.constants import SELF
from csp.decorators import csp_update

from knowledge.api import router as knowledge_router
from memory.api import memory_router, sessions_router, tools_router, turn_router
from protoconsole.api_errors import install
from protoconsole.health import open_router, runtime_router
from protoconsole.reading import Api, JsonParser, refuse_unknown_parameters
from protoconsole.version import VERSION

DESCRIPTION = """Everything that an agent, a plugin or an operator's script may do with memory.

A key is sent as `Authorization: Bearer pc_…` or as `X-API-Key`. Every refusal is
`{"code": …, "detail": …}`. Lists answer `items` and `next`, which is the `cursor` of the next page.
A change with `If-Match` is refused with 412 when the row is no longer the one of that ETag."""

api = Api(
    title="protoconsole",
    version=VERSION,
    description=DESCRIPTION,
    urls_namespace="api",
    openapi_url="/api/openapi.json",
    docs_url="/api/docs",
    parser=JsonParser(),
    docs_decorator=csp_update({"img-src": [SELF, "data:"]}),
)
install(api)
api.add_decorator(refuse_unknown_parameters)
api.add_router("/api/knowledge", knowledge_router)
api.add_router("/api", turn_router)
api.add_router("/api/sessions", sessions_router)
api.add_router("/api/memory", memory_router)
api.add_router("/api/tools", tools_router)
api.add_router("/api/runtime", runtime_router)
api.add_router("", open_router)
