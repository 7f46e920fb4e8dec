"""What people send from pages, checked, as the values that services and queries take."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from knowledge.text import fault_in
from knowledge.types import (
    MAX_TEXT_CHARS,
    ChunkQuery,
    Kind,
    NewChunk,
    Policy,
    State,
    TrustTier,
    Verdict,
)
from knowledge.validation import MAX_NAME_CHARS


def storable(value: str) -> None:
    """Refuse what SQLite cannot keep exactly."""
    fault = fault_in(value)
    if fault:
        raise forms.ValidationError(fault)


class TextField(forms.CharField):
    """A text kept exactly as sent, but for the line ends that browsers rewrite."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("strip", False)
        super().__init__(validators=[storable], **options)
        # Django's own check refuses NUL alone, and in other words.
        self.validators = [storable, *(check for check in self.validators if check is not storable)][:]

    def to_python(self, value: str | None) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class TextsField(forms.Field):
    """Any number of exact texts under one name."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Sequence[str] | None) -> list[str]:
        texts = list(value or [])
        for text in texts:
            storable(text)
            if len(text) > MAX_NAME_CHARS:
                raise forms.ValidationError(f"has {len(text):,} characters; at most {MAX_NAME_CHARS:,} are possible")
        return texts


def choices_of(names: type[Kind] | type[Policy] | type[Verdict] | type[State]) -> list[tuple[str, str]]:
    return [(name.value, name.value.replace("_", " ")) for name in names]


TRUST_CHOICES = [(tier.label, tier.label) for tier in reversed(TrustTier)]


class FilterForm(forms.Form):
    """The filters of a list, all of them in the address. `q` is ranked on Store and narrows on Review."""

    q = forms.CharField(required=False, max_length=MAX_TEXT_CHARS)
    domain = TextsField(required=False)
    kind = forms.MultipleChoiceField(choices=choices_of(Kind), required=False)
    trust = forms.MultipleChoiceField(choices=TRUST_CHOICES, required=False)
    verdict = forms.MultipleChoiceField(choices=choices_of(Verdict), required=False)
    policy = forms.MultipleChoiceField(choices=choices_of(Policy), required=False)
    namespace = TextsField(required=False)
    state = forms.MultipleChoiceField(choices=choices_of(State), required=False)
    source = TextsField(required=False)

    def query(self) -> ChunkQuery:
        """Give the filters as a value, with `q` as ranked text; the form must be valid."""
        sent = self.cleaned_data
        return ChunkQuery(
            text=sent["q"],
            domains=tuple(sent["domain"]),
            kinds=tuple(map(Kind, sent["kind"])),
            trust=tuple(TrustTier[label.upper()] for label in sent["trust"]),
            verdicts=tuple(map(Verdict, sent["verdict"])),
            policies=tuple(map(Policy, sent["policy"])),
            namespaces=tuple(sent["namespace"]),
            states=tuple(map(State, sent["state"])),
            sources=tuple(sent["source"]),
        )


def filter_form(params: QueryDict) -> FilterForm:
    """Read the filters from an address; unknown names in it (a cursor) are not the filters' business."""
    return FilterForm(params)


class NoteForm(forms.Form):
    """A row that an operator writes."""

    content = TextField(max_length=MAX_TEXT_CHARS, widget=forms.Textarea)
    heading = TextField(max_length=MAX_TEXT_CHARS, required=False)
    domain = TextField(max_length=MAX_NAME_CHARS, required=False, initial="general")
    namespace = TextField(max_length=MAX_NAME_CHARS, required=False)
    subject = TextField(max_length=MAX_NAME_CHARS, required=False)
    delivery_policy = forms.ChoiceField(choices=choices_of(Policy), initial=Policy.RETRIEVED)
    expires_at = TextField(max_length=40, required=False)

    def new_chunk(self) -> NewChunk:
        sent = self.cleaned_data
        return NewChunk(
            content=sent["content"],
            domain=sent["domain"] or "general",
            heading=sent["heading"] or None,
            namespace=sent["namespace"] or None,
            subject=sent["subject"] or None,
            delivery_policy=Policy(sent["delivery_policy"]),
            expires_at=sent["expires_at"] or None,
        )


class EditForm(forms.Form):
    """A new text for a row, bound to the version that the operator saw."""

    content = TextField(max_length=None, widget=forms.Textarea)
    heading = TextField(max_length=MAX_TEXT_CHARS, required=False)
    version = forms.CharField(max_length=64)


class VerdictForm(forms.Form):
    """A verdict on one row, bound to the version that the operator saw."""

    verdict = forms.ChoiceField(choices=choices_of(Verdict))
    version = forms.CharField(max_length=64)
    reason = TextField(max_length=MAX_NAME_CHARS, required=False)


class BulkVerdictForm(forms.Form):
    """A verdict on many rows: those ticked, or all that match, bound to what the operator saw."""

    verdict = forms.ChoiceField(choices=choices_of(Verdict))
    count = forms.IntegerField(min_value=0)
    newest = forms.IntegerField(min_value=0)
    scope = forms.ChoiceField(choices=[("ticked", "ticked"), ("all", "all")])
    ids = forms.TypedMultipleChoiceField(coerce=int, required=False)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        ticked = [value for value in data.getlist("ids") if value.isascii() and value.isdigit() and len(value) < 19]
        self.fields["ids"].choices = [(value, value) for value in ticked]  # type: ignore[attr-defined]


class SettingsForm(forms.Form):
    """Delivery policy and expiry of one row."""

    delivery_policy = forms.ChoiceField(choices=choices_of(Policy), required=False)
    expires_at = TextField(max_length=40, required=False)
    clear_expiry = forms.BooleanField(required=False)
    version = forms.CharField(max_length=64)
