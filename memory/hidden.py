"""Which messages of a thread were said incognito, known again without their words.

Callers may post all of a conversation each time. What was hidden then has to be known when it comes again.
"""

import json
from collections.abc import Callable, Iterable

from django.utils.crypto import salted_hmac

from memory.models import HiddenMessage, Thread

MOST = 2_000  # of one thread; the oldest are forgotten first

Said = tuple[object, ...]


def hide(thread: Thread, messages: Iterable[Said]) -> None:
    """Remember messages by digests, which nobody can compare with a guess who has not the instance's key."""
    digests = dict.fromkeys(_digest(thread, message) for message in messages)
    rows = (HiddenMessage(thread=thread, digest=digest) for digest in digests)
    HiddenMessage.objects.bulk_create(rows, ignore_conflicts=True)
    beyond = list(thread.hidden.order_by("-id").values_list("id", flat=True)[MOST : MOST + 1])
    thread.hidden.filter(id__lte=beyond[0] if beyond else 0).delete()


def was_hidden(thread: Thread) -> Callable[[Said], bool]:
    """Give the test of whether a message was said incognito in a thread."""
    digests = set(thread.hidden.values_list("digest", flat=True))
    return lambda message: bool(digests) and _digest(thread, message) in digests


def _digest(thread: Thread, message: Said) -> str:
    salt = f"memory.hidden:{thread.session_id}"
    return salted_hmac(salt, json.dumps(message), algorithm="sha256").hexdigest()
