"""How many tokens a model's window holds: as configured, else as its gateway tells (SPEC 12).

A turn never asks the gateway. It notes a model that it does not know, and maintenance asks.
"""

import logging
from datetime import datetime, timedelta
from functools import lru_cache

from django.db.models import F
from django.utils import timezone

from memory import turn_faults
from memory.models import MAX_MODEL_CHARS, ModelWindow
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.gateway import GatewayError, learn_window
from protoconsole.instance import current

PATIENCE_S = 0.05  # of a turn that notes a model; the next turn can do it as well
MOST_NOTED = 1_000  # names come from callers
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(days=1)
PAUSES = 12  # each twice as long as the one before, and the last the longest

_log = logging.getLogger("protoconsole.windows")


def window_of(model: str | None, *, note: bool = True) -> int | None:
    """Give the window of a model in tokens, that of the default model where nothing is known of this one.

    None where nothing is known of either. `note` has the gateway asked for what is not known, and the log say
    once for each model that nothing is; without it the name of the model goes nowhere.
    """
    default = current().config.model.name
    names = dict.fromkeys(name for name in (model, default) if name)
    window = next((window for name in names if (window := _known(name, note=note))), None)
    if window is None and note:
        _say_once(model or default)
    return window


def learn_next() -> int:
    """Ask the gateway for the window of one model that is due; 0 where none is.

    A model that the gateway does not know is asked for again after the longest pause, and then forgotten: the
    names come from callers, and one that is still used is noted anew.
    """
    model = current().config.model
    now = timezone.now()
    due = ModelWindow.objects.filter(tokens=None, ask_at__lte=now).order_by("ask_at").first()
    if due is None or not model.api_base:
        return 0
    _put_off(due, now)
    try:
        tokens = learn_window(model, due.name)
    except GatewayError as error:
        _log.warning("the window of the model %s is not known yet: %s", due.name, error)
        return 1
    with write_transaction(CONSOLE):
        _keep(due, tokens, now)
    return 1


def _known(name: str, *, note: bool) -> int | None:
    configured = current().config.model.windows.get(name)
    if configured is not None or not current().config.model.api_base or len(name) > MAX_MODEL_CHARS:
        return configured
    found = ModelWindow.objects.filter(name=name).values_list("tokens", flat=True)
    for tokens in found:
        return tokens
    if note:
        _note(name)
    return None


def _note(name: str) -> None:
    with turn_faults.notes_can_wait(), write_transaction(CONSOLE, PATIENCE_S):
        if ModelWindow.objects.count() < MOST_NOTED:
            ModelWindow.objects.get_or_create(name=name, defaults={"ask_at": timezone.now()})


def _keep(asked: ModelWindow, tokens: int | None, now: datetime) -> None:
    row = ModelWindow.objects.filter(pk=asked.pk)
    if tokens is None and asked.attempts >= PAUSES:
        row.delete()
    else:
        row.update(tokens=tokens, attempts=PAUSES, ask_at=now + LONGEST_PAUSE)


def _put_off(due: ModelWindow, now: datetime) -> None:
    """Set the next time before asking, so that an attempt that dies is followed by a pause too."""
    pause = min(FIRST_PAUSE * 2 ** min(due.attempts, PAUSES), LONGEST_PAUSE)
    with write_transaction(CONSOLE):
        ModelWindow.objects.filter(pk=due.pk).update(attempts=F("attempts") + 1, ask_at=now + pause)


@lru_cache(maxsize=MOST_NOTED)
def _say_once(model: str) -> None:
    _log.warning("the window of %s is not known, so prompts have no ceiling", model or "the model")
