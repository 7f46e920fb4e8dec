"""One actor of each role, for tests that call services and queries directly."""

from protoconsole.actors import Actor, Role, Surface

OPERATOR = Actor("olive", Role.OPERATOR, Surface.PAGE)
VIEWER = Actor("vera", Role.VIEWER, Surface.PAGE)
AGENT = Actor("agent-1", Role.AGENT, Surface.TOOL, session_id="chat-1")
PLUGIN = Actor("importer", Role.PLUGIN, Surface.API)
CONFIRMING_PLUGIN = Actor("trusted-importer", Role.PLUGIN, Surface.API, may_confirm=True)
EVERYONE = (OPERATOR, VIEWER, AGENT, PLUGIN)
