"""What the pages call the parts of a prompt and the reasons why something did not enter it. Pure."""

from collections.abc import Mapping

from memory.types import Part, Reason

PARTS: Mapping[Part, str] = {
    Part.PRIOR_SESSIONS: "Prior sessions",
    Part.ALWAYS_ON: "Always-on",
    Part.HITS: "Search hits",
    Part.AVAILABLE_SKILLS: "Playbooks",
    Part.WORKING_STATE: "Working state",
}
REASONS: Mapping[Reason, str] = {
    Reason.BUDGET: "No room was left in the budget of the turn",
    Reason.CAP: "Beyond the limit of its own part",
    Reason.TRUST_FLOOR: "Below the least trust that is delivered",
    Reason.DUPLICATE: "Stands among the always-on rows already",
    Reason.REJECTED: "An operator had rejected it",
    Reason.EXPIRED: "Its time had passed",
    Reason.INVALIDATED: "It was no longer valid: replaced or deleted",
    Reason.ON_DEMAND: "For tools only",
    Reason.NAMESPACE: "Of a namespace that is not delivered",
    Reason.EMPTY: "Nothing was left of it without its leaked reasoning",
    Reason.INCOGNITO: "An incognito turn is told nothing from memory",
    Reason.GOAL_TURN: "A turn towards a goal is told of no other sessions",
    Reason.MEMORY_OFF: "Memory is switched off",
}
