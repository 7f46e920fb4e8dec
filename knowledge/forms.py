"""What people send from pages, checked, as the values that services and queries take."""

from collections.abc import Sequence
from typing import Any, Self

from django import forms
from django.core.validators import ProhibitNullCharactersValidator
from django.http import QueryDict

from knowledge.errors import Invalid
from knowledge.ids import is_id
from knowledge.text import clean_query, fault_in
from knowledge.types import (
    MAX_TEXT_CHARS,
    Chunk,
    ChunkQuery,
    Kind,
    NewChunk,
    Policy,
    Selection,
    State,
    TrustTier,
    Verdict,
)
from knowledge.validation import MAX_NAME_CHARS

MAX_ID = 2**63 - 1


def checked(form: forms.Form) -> dict[str, Any]:
    """Give what a form was sent. Raises Invalid naming the first field that cannot be."""
    if not form.is_valid():
        field, problems = next(iter(form.errors.items()))
        raise Invalid(str(field), " ".join(map(str, problems)))
    return form.cleaned_data


def storable(value: str) -> None:
    """Refuse what SQLite cannot keep exactly."""
    fault = fault_in(value)
    if fault:
        raise forms.ValidationError(fault)


class TextField(forms.CharField):
    """A text kept exactly as sent, but for the line ends that browsers rewrite."""

    default_validators = [storable]  # noqa: RUF012 - as Django declares it

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"strip": False, **options})
        # `storable` says the same of NUL, in the words of all our refusals.
        self.validators = [
            check for check in self.validators if not isinstance(check, ProhibitNullCharactersValidator)
        ]

    def to_python(self, value: str | None) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class QueryField(forms.CharField):
    """A text to search for: what no stored text can hold is left out, and nothing is refused."""

    def to_python(self, value: str | None) -> str:
        return clean_query(super().to_python(value) or "")[:MAX_TEXT_CHARS]


class TextsField(forms.Field):
    """Any number of exact texts under one name."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Sequence[str] | None) -> list[str]:
        texts = list(value or [])
        for text in texts:
            storable(text)
            if len(text) > MAX_NAME_CHARS:
                raise forms.ValidationError(
                    f"has {len(text):,} characters; at most {MAX_NAME_CHARS:,} are possible"
                )
        return texts


def choices_of(names: type[Kind] | type[Policy] | type[Verdict] | type[State]) -> list[tuple[str, str]]:
    return [(name.value, name.value.replace("_", " ")) for name in names]


DELIVERY = {
    Policy.RETRIEVED: "retrieved: when a search matches",
    Policy.ALWAYS: "always-on: every turn",
    Policy.ON_DEMAND: "on demand: tools only",
}
TRUST_CHOICES = [(tier.label, tier.label) for tier in reversed(TrustTier)]


class FilterForm(forms.Form):
    """The filters of a list, all of them in the address. `q` is ranked on Store and narrows on Review."""

    q = QueryField(required=False)
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


class QueueForm(FilterForm):
    """The filters of the queue, its order, its page, and the row that is chosen of it."""

    read = forms.ChoiceField(choices=[("external", "external")], required=False)
    order = forms.ChoiceField(choices=[("oldest", "oldest"), ("newest", "newest")], required=False)
    cursor = forms.CharField(max_length=20, required=False)
    chosen = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    edit = forms.BooleanField(required=False)


def filter_form(params: QueryDict) -> FilterForm:
    """Read the filters from an address; unknown names in it (a cursor) are not the filters' business."""
    return FilterForm(params)


EXPIRY_HELP = "A number of days, or a time such as 2027-01-31 (UTC where it names no zone)."


class NoteForm(forms.Form):
    """A row that an operator writes."""

    heading = TextField(
        max_length=MAX_TEXT_CHARS, required=False, help_text="A few words; lists show it first."
    )
    content = TextField(label="Text", max_length=MAX_TEXT_CHARS, widget=forms.Textarea)
    delivery_policy = forms.ChoiceField(
        label="Delivery",
        choices=[(policy.value, text) for policy, text in DELIVERY.items()],
        initial=Policy.RETRIEVED,
    )
    domain = TextField(max_length=MAX_NAME_CHARS, required=False, initial="general")
    namespace = TextField(
        max_length=MAX_NAME_CHARS, required=False, help_text="Narrows recall to this scope; empty means none."
    )
    subject = TextField(max_length=MAX_NAME_CHARS, required=False, help_text="Whom or what it is about.")
    expires_at = TextField(label="Expires", max_length=40, required=False, help_text=EXPIRY_HELP)

    def new_chunk(self, expires_at: str | None) -> NewChunk:
        """Give the note as a row to write; `expires_at` is the moment that the field of that name means."""
        sent = self.cleaned_data
        return NewChunk(
            content=sent["content"],
            domain=sent["domain"] or "general",
            heading=sent["heading"] or None,
            namespace=sent["namespace"] or None,
            subject=sent["subject"] or None,
            delivery_policy=Policy(sent["delivery_policy"]),
            expires_at=expires_at,
        )


class EditForm(forms.Form):
    """A new text for a row, bound to the version that the operator saw."""

    # A field of one line would drop the line ends that a stored heading may have.
    heading = TextField(max_length=None, required=False, widget=forms.Textarea(attrs={"rows": 1}))
    content = TextField(label="Text", max_length=None, widget=forms.Textarea)
    version = forms.CharField(max_length=64, widget=forms.HiddenInput)

    @classmethod
    def of(cls, chunk: Chunk) -> Self:
        """Give the form with the text of a row as it stands."""
        initial = {"heading": chunk.heading or "", "content": chunk.content, "version": chunk.version}
        return cls(initial=initial)


class VerdictForm(forms.Form):
    """A verdict on one row, bound to the version that the operator saw."""

    verdict = forms.ChoiceField(choices=choices_of(Verdict))
    version = forms.CharField(max_length=64)
    reason = TextField(max_length=MAX_NAME_CHARS, required=False)


class BulkVerdictForm(forms.Form):
    """A verdict on many rows: those ticked, or all that match, bound to what the operator saw.

    `query` is the filter as it stood in the address.
    """

    verdict = forms.ChoiceField(choices=choices_of(Verdict))
    query = TextField(required=False)
    all = forms.BooleanField(required=False)
    seen_count = forms.IntegerField(min_value=0, max_value=MAX_ID)
    seen_newest = forms.IntegerField(min_value=0, max_value=MAX_ID)
    ids = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        error_messages={"invalid_choice": "%(value)s is not the id of a chunk"},
    )

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        ticked = [value for value in data.getlist("ids") if is_id(value)]
        self.fields["ids"].choices = [(value, value) for value in ticked]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        sent: dict[str, Any] = super().clean() or {}
        if not (sent.get("all") or sent.get("ids") or self.errors):
            self.add_error("ids", "no row is ticked; tick some, or all that match")
        return sent

    def selection(self, matching: ChunkQuery) -> Selection:
        """Name the rows, given what the filter of `query` matches; the form must be valid."""
        sent = self.cleaned_data
        if sent["all"]:
            return Selection(matching, sent["seen_count"], sent["seen_newest"])
        ids = tuple(dict.fromkeys(sent["ids"]))
        return Selection(ChunkQuery(ids=ids, states=matching.states), len(ids), max(ids))


class SettingsForm(forms.Form):
    """Delivery policy and expiry of one row."""

    delivery_policy = forms.ChoiceField(choices=choices_of(Policy), required=False)
    expires_at = TextField(max_length=40, required=False)
    clear_expiry = forms.BooleanField(required=False)
    version = forms.CharField(max_length=64)
