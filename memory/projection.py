"""Compose what a model is told before a turn, and say what it is not told and why.

Pure: the same candidates and options give the same bytes.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from knowledge.reasoning import strip_reasoning
from memory import budget
from memory.envelope.frames import FRAMES, ORDER
from memory.envelope.render import (
    Lines,
    always_on_line,
    always_on_words,
    hit_line,
    playbook_line,
    render,
    session_line,
)
from memory.types import (
    Budget,
    Candidates,
    Delivered,
    LeftOut,
    MemoryCandidate,
    Options,
    Part,
    PlaybookCandidate,
    Projection,
    Reason,
    Ref,
    Section,
    SessionCandidate,
    Shed,
    WorkingState,
)
from memory.working_state import beyond_limits, commitments

MOST_ALWAYS_ON_ROWS = 100
MOST_ALWAYS_ON_CHARS = 6_000
_PLAYBOOK_LISTS_REMEMBERED = 16


class _Choice(NamedTuple):
    """What a part delivers as far as its own limits go, and what they leave out."""

    delivered: list[Delivered]
    left_out: list[LeftOut]


_Parts = Mapping[Part, list[Delivered]]


def project(candidates: Candidates, options: Options) -> Projection:
    """Return the text for one turn with its record: each entry in its words, each candidate left out and why.

    Over the ceiling, hits give way first, then digest lines, then descriptions of playbooks, each from the
    end; always-on rows, names and the working state never do, so `budget.used_chars` may still exceed it.
    """
    playbooks, names = _listed(tuple(candidates.playbooks), options.window, options.skills_top_k)
    choices = _choices(candidates, playbooks, options)
    chosen = {part: choices[part].delivered for part in ORDER}
    ceiling = budget.ceiling_chars(options.window, options.budget_pct)
    whole = _lines(chosen)
    shed = budget.overflow(budget.needed(len(render(whole)), ceiling, budget.steps(whole, names)))
    kept = _without(shed, chosen, names)
    lines = _lines(kept)
    text = render(lines)
    own_limits = [item for part in ORDER for item in choices[part].left_out]
    return Projection(
        text=text,
        sections=_sections(lines, shed),
        delivered=[entry for part in ORDER for entry in kept[part]],
        left_out=[*candidates.refused, *own_limits, *_dropped(chosen, kept)],
        sources=_sources(kept),
        budget=Budget(ceiling, len(text), shed),
        stage_counts=_stage_counts(candidates, options, choices[Part.HITS], kept[Part.HITS]),
    )


def _choices(candidates: Candidates, playbooks: Sequence[Delivered], options: Options) -> dict[Part, _Choice]:
    choices = {
        Part.AVAILABLE_SKILLS: _Choice([*playbooks], []),
        Part.WORKING_STATE: _working_state(candidates.working_state),
    }
    if why := _silence(options):
        return choices | _silent(candidates, why)
    always_on = _always_on(candidates.always_on)
    return choices | {
        Part.PRIOR_SESSIONS: _digest(candidates.sessions, options),
        Part.ALWAYS_ON: always_on,
        Part.HITS: _hits(candidates.hits, {entry.ref for entry in always_on.delivered}, options),
    }


def _silence(options: Options) -> Reason | None:
    if not options.memory_on:
        return Reason.MEMORY_OFF
    return Reason.INCOGNITO if options.incognito else None


def _silent(candidates: Candidates, why: Reason) -> dict[Part, _Choice]:
    refs: dict[Part, list[Ref]] = {
        Part.PRIOR_SESSIONS: [session.session_id for session in candidates.sessions],
        Part.ALWAYS_ON: [row.ref for row in candidates.always_on],
        Part.HITS: [row.ref for row in candidates.hits],
    }
    return {part: _Choice([], [LeftOut(part, ref, why) for ref in each]) for part, each in refs.items()}


def _digest(sessions: Sequence[SessionCandidate], options: Options) -> _Choice:
    part = Part.PRIOR_SESSIONS
    if options.goal_turn:
        return _Choice([], [LeftOut(part, session.session_id, Reason.GOAL_TURN) for session in sessions])
    room = options.max_session_tokens * budget.CHARS_PER_TOKEN + 1 - FRAMES[part].chars
    delivered: list[Delivered] = []
    for session in sessions[: max(options.max_sessions, 0)]:
        line = session_line(session)
        room -= len(line) + 1
        if room < 0:
            break
        delivered.append(Delivered(part, session.session_id, len(delivered) + 1, line))
    rest = sessions[len(delivered) :]
    return _Choice(delivered, [LeftOut(part, session.session_id, Reason.CAP) for session in rest])


def _always_on(rows: Sequence[MemoryCandidate]) -> _Choice:
    part = Part.ALWAYS_ON
    spoken, left_out = _with_words(part, rows)
    room = MOST_ALWAYS_ON_CHARS
    delivered: list[Delivered] = []
    for row in spoken[:MOST_ALWAYS_ON_ROWS]:
        words = always_on_words(row)
        room -= len(words)
        if room < 0:
            break
        delivered.append(_entry(part, row, len(delivered) + 1, always_on_line(row, words)))
    left_out += [LeftOut(part, row.ref, Reason.CAP) for row in spoken[len(delivered) :]]
    return _Choice(delivered, left_out)


def _hits(rows: Sequence[MemoryCandidate], always_on: set[Ref], options: Options) -> _Choice:
    part = Part.HITS
    spoken, left_out = _with_words(part, rows)
    eligible = []
    for row in spoken:
        if row.tier < options.min_trust:
            left_out.append(LeftOut(part, row.ref, Reason.TRUST_FLOOR))
        elif row.ref in always_on:
            left_out.append(LeftOut(part, row.ref, Reason.DUPLICATE))
        else:
            eligible.append(row)
    most = max(options.top_k, 0)
    left_out += [LeftOut(part, row.ref, Reason.CAP) for row in eligible[most:]]
    ranked = sorted(eligible[:most], key=lambda row: -row.tier)
    entries = [
        _entry(part, row, rank, hit_line(row, options.preview_chars)) for rank, row in enumerate(ranked, 1)
    ]
    return _Choice(entries, left_out)


def _with_words(part: Part, rows: Sequence[MemoryCandidate]) -> tuple[list[MemoryCandidate], list[LeftOut]]:
    """Part the rows that say something from those that were nothing but leaked reasoning."""
    spoken, left_out = [], []
    for row in rows:
        if strip_reasoning(row.content).strip():
            spoken.append(row)
        else:
            left_out.append(LeftOut(part, row.ref, Reason.EMPTY))
    return spoken, left_out


def _entry(part: Part, row: MemoryCandidate, rank: int, words: str) -> Delivered:
    return Delivered(part, row.ref, rank, words, row.score, row.tier, row.verdict, row.source)


@lru_cache(_PLAYBOOK_LISTS_REMEMBERED)
def _listed(
    playbooks: tuple[PlaybookCandidate, ...], window: int | None, top_k: int
) -> tuple[tuple[Delivered, ...], tuple[str, ...]]:
    """Return an entry for each playbook, and its line without a description.

    Remembered, since there may be hundreds, and they are the same from turn to turn.
    """
    part = Part.AVAILABLE_SKILLS
    names = tuple(playbook_line(playbook, described=False) for playbook in playbooks)
    lines = list(names)
    room = budget.skills_ceiling_chars(window) - FRAMES[part].size(lines)
    for index, playbook in enumerate(playbooks[: max(top_k, 0)]):
        described = playbook_line(playbook, described=True)
        room -= len(described) - len(lines[index])
        if room < 0:
            break
        lines[index] = described
    named = enumerate(zip(playbooks, lines, strict=True), 1)
    return tuple(Delivered(part, playbook.name, rank, line) for rank, (playbook, line) in named), names


def _working_state(state: WorkingState) -> _Choice:
    lines = enumerate(commitments(state), 1)
    return _Choice(
        [Delivered(Part.WORKING_STATE, line.ref, rank, line.words) for rank, line in lines],
        beyond_limits(state),
    )


def _lines(parts: _Parts) -> dict[Part, list[str]]:
    return {part: [entry.words for entry in entries] for part, entries in parts.items()}


def _without(shed: Sequence[Shed], chosen: _Parts, names: Sequence[str]) -> _Parts:
    """Return the entries that the budget leaves, a playbook without its description where it took that."""
    kept = dict(chosen)
    for item in shed:
        if item.label is Part.AVAILABLE_SKILLS:
            kept[item.label] = _undescribed(chosen[item.label], names, item.dropped_items)
        else:
            kept[item.label] = chosen[item.label][: -item.dropped_items]
    return kept


def _undescribed(entries: Sequence[Delivered], names: Sequence[str], count: int) -> list[Delivered]:
    described = [index for index, entry in enumerate(entries) if entry.words != names[index]]
    bare = set(described[-count:])
    return [
        Delivered(entry.part, entry.ref, entry.rank, names[index]) if index in bare else entry
        for index, entry in enumerate(entries)
    ]


def _dropped(chosen: _Parts, kept: _Parts) -> list[LeftOut]:
    return [
        LeftOut(part, entry.ref, Reason.BUDGET) for part in ORDER for entry in chosen[part][len(kept[part]) :]
    ]


def _sections(lines: Lines, shed: Sequence[Shed]) -> list[Section]:
    truncated = {item.label for item in shed}
    return [
        Section(part, FRAMES[part].size(lines[part]), part in truncated)
        for part in ORDER
        if lines[part] or part in truncated
    ]


def _sources(kept: _Parts) -> list[str]:
    rows = (entry.source for part in (Part.ALWAYS_ON, Part.HITS) for entry in kept[part])
    return list(dict.fromkeys(source for source in rows if source))


def _stage_counts(
    candidates: Candidates, options: Options, choice: _Choice, final: Sequence[Delivered]
) -> dict[str, int]:
    silent = _silence(options) is not None
    return {
        "effective_top_k": 0 if silent else max(options.top_k, 0),
        "retrieved": 0 if silent else len(candidates.hits),
        "trust_filtered": sum(item.reason is Reason.TRUST_FLOOR for item in choice.left_out),
        "final": len(final),
    }
