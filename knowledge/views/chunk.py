"""The page of one chunk, and the changes of it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from knowledge import dossier, queries, services
from knowledge.beside import Place, asides
from knowledge.errors import Conflict, Invalid, NotFound, Stale
from knowledge.expiry import expiry_from
from knowledge.forms import EXPIRY_HELP, EditForm, NoteForm, SettingsForm
from knowledge.types import UNCHANGED, Chunk, Edit, Policy
from knowledge.views.answers import answers_errors, back_or, failed
from knowledge.views.changes import undo_url
from knowledge.views.parts import page_or_part, targets
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.parts import is_part
from protoconsole.toasts import toast


@require_safe
@viewer_required
@answers_errors
def page(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Show everything about one chunk."""
    return _shown(request, chunk_id)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
@answers_errors
def edit(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Give a chunk a new text, as a revision."""
    if request.method != "POST":
        chunk = queries.get(chunk_id, request.actor)
        return _edit_form(request, chunk, EditForm.of(chunk))
    form = EditForm(request.POST)
    try:
        chunk = queries.get(chunk_id, request.actor)
    except NotFound:
        return _offered_as_note(request, chunk_id, form)
    return _saved(request, chunk, form) if form.is_valid() else _edit_form(request, chunk, form, status=422)


@require_POST
@operator_required
@answers_errors
def settings(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Change the delivery policy and the expiry of a chunk in place."""
    chunk = queries.get(chunk_id, request.actor)
    form = SettingsForm(request.POST)
    if not form.is_valid():
        return _shown(request, chunk_id, settings_form=form, status=422)
    try:
        change = _settings_of(form)
        changed = services.edit(chunk_id, change, request.actor, if_match=form.cleaned_data["version"])
    except Invalid as error:
        form.add_error("expires_at", error.detail)
        return _shown(request, chunk_id, settings_form=form, status=422)
    except (Stale, Conflict) as error:
        return _changed_since(request, chunk_id, error)
    _tell(request, chunk, changed, f"#{chunk_id} now: {_settings_told(changed)}.")
    return redirect(back_or(request, reverse("knowledge:chunk", args=[chunk_id])))


@require_POST
@operator_required
@answers_errors
def delete(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Delete a chunk for good."""
    try:
        services.delete(chunk_id, request.actor, if_match=request.POST.get("version", ""))
    except Stale as error:
        return _changed_since(request, chunk_id, error)
    toast(request, f"#{chunk_id} was deleted for good.")
    return redirect("knowledge:store")


@require_POST
@operator_required
@answers_errors
def reinstate(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Bring a superseded chunk back where nothing valid stands in its place."""
    before = queries.get(chunk_id, request.actor)
    _tell(request, before, services.reinstate(chunk_id, request.actor), f"#{chunk_id} is back.")
    return redirect("knowledge:chunk", chunk_id)


def _shown(request: KnownRequest, chunk_id: int, *, status: int = 200, **more: Any) -> HttpResponse:
    cursor = request.GET.get("trail", "")
    file = dossier.of(chunk_id, request.actor, cursor=cursor or None)
    context = {
        "file": file,
        "asides": asides(Place.CHUNK, file.chunk, request.actor),
        "can_change": request.actor.is_operator,
        "here": reverse("knowledge:chunk", args=[chunk_id]),
        "undo_target": "#chunk",
        "later_trail": bool(cursor),
        "policies": list(Policy),
        "expiry_help": EXPIRY_HELP,
        **more,
    }
    return page_or_part(request, "knowledge/chunk.html", "knowledge/_chunk_part.html", context, status=status)


def _saved(request: KnownRequest, chunk: Chunk, form: EditForm) -> HttpResponse:
    """Save a revision, or show the form again with what stands in its way."""
    version = form.cleaned_data["version"]
    try:
        revision = services.edit(chunk.id, _change_of(form, chunk), request.actor, if_match=version)
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else None, error.detail)
        return _edit_form(request, chunk, form, status=422)
    except (Stale, Conflict):
        return _edit_conflict(request, chunk, form)
    _tell(request, chunk, revision, f"Saved as #{revision.id}, which replaces #{chunk.id}.")
    return redirect(back_or(request, reverse("knowledge:chunk", args=[revision.id])))


def _changed_since(request: KnownRequest, chunk_id: int, error: Stale | Conflict) -> HttpResponse:
    """Show how the chunk is now, where the operator decided on an older state; nothing was changed."""
    if is_part(request) and not targets(request, "chunk"):
        return failed(request, error)
    return _shown(request, chunk_id, conflict=str(error), status=409)


def _edit_form(
    request: KnownRequest, chunk: Chunk, form: EditForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"chunk": chunk, "form": form, **more}
    return render(request, "knowledge/chunk_edit.html", context, status=status)


def _edit_conflict(request: KnownRequest, chunk: Chunk, form: EditForm) -> HttpResponse:
    """Show the text that stands now beside the one that was typed, ready to be saved on top of it."""
    standing = queries.end_of(queries.history(chunk.id, request.actor), chunk.id)
    typed = {"heading": form.cleaned_data["heading"], "content": form.cleaned_data["content"]}
    anew = EditForm(initial={**typed, "version": standing.version})
    return _edit_form(request, standing, anew, status=409, conflict=True, edited=chunk, typed=typed)


def _offered_as_note(request: KnownRequest, chunk_id: int, form: EditForm) -> HttpResponse:
    """Keep what was typed for a row that is gone: it can be stored as a note."""
    typed = {name: form[name].value() or "" for name in ("heading", "content")}
    gone = f"There is no chunk {chunk_id} any more. What you typed is below; it can be stored as a note."
    context = {"form": NoteForm(initial=typed), "gone": gone}
    return render(request, "knowledge/note.html", context, status=404)


def _change_of(form: EditForm, chunk: Chunk) -> Edit:
    """Read an edit; a browser's rewriting of line ends alone is none."""
    content, heading = form.cleaned_data["content"], form.cleaned_data["heading"]
    return Edit(
        content=None if content == _as_sent(chunk.content) else content,
        heading=UNCHANGED if heading == _as_sent(chunk.heading or "") else heading or None,
    )


def _as_sent(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _settings_of(form: SettingsForm) -> Edit:
    sent = form.cleaned_data
    expires_at = expiry_from(sent["expires_at"], timezone.now())
    return Edit(
        delivery_policy=Policy(sent["delivery_policy"]) if sent["delivery_policy"] else None,
        expires_at=None if sent["clear_expiry"] else expires_at or UNCHANGED,
    )


def _settings_told(chunk: Chunk) -> str:
    delivery = "always-on" if chunk.delivery_policy is Policy.ALWAYS else chunk.delivery_policy.value
    expiry = f"expires {chunk.expires_at[:16].replace('T', ' ')} UTC" if chunk.expires_at else "no expiry"
    return f"{delivery.replace('_', ' ')}, {expiry}"


def _tell(request: KnownRequest, before: Chunk, after: Chunk, text: str) -> None:
    """Queue a toast with the way back, or say that nothing had to be done."""
    if after.version == before.version:
        toast(request, f"Nothing to change: #{after.id} is like that already.", level=messages.INFO)
        return
    last = queries.trail(after.id, request.actor, limit=1).items[0]
    toast(request, text, undo_url=undo_url(last.batch))
