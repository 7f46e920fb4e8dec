"""The address of a preview, checked."""

from typing import Any

from django import forms

from knowledge.forms import TextField
from knowledge.types import MAX_TEXT_CHARS
from memory.previewing import Ruling
from memory.types import Ref, TurnRequest
from protoconsole.session_ids import ALLOWED, is_session_id

MOST_TOKENS = 100_000_000
LARGEST_ID = 10**18 - 1
SUPPOSED = [("", "as it is"), *((ruling.value, ruling.value) for ruling in Ruling)]


class PreviewForm(forms.Form):
    """A turn that is not asked for yet, and a row of which something is supposed."""

    query = TextField(
        required=False,
        max_length=MAX_TEXT_CHARS,
        label="Message",
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "What the user says next"}),
    )
    session_id = TextField(required=False, max_length=200, label="Session")
    model = TextField(required=False, max_length=200, label="Model")
    window = forms.IntegerField(required=False, min_value=1, max_value=MOST_TOKENS, label="Window in tokens")
    incognito = forms.BooleanField(required=False, label="Incognito turn")
    goal_turn = forms.BooleanField(required=False, label="Goal turn")
    row = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, label="As if row #")
    supposed = forms.ChoiceField(required=False, choices=SUPPOSED, label="were")

    def clean_session_id(self) -> str:
        sent: str = self.cleaned_data["session_id"].strip()
        if sent and not is_session_id(sent):
            raise forms.ValidationError(f"must be {ALLOWED}")
        return sent

    def clean(self) -> dict[str, Any]:
        sent = super().clean() or self.cleaned_data
        if sent.get("supposed") and not sent.get("row") and "row" not in self.errors:
            self.add_error("row", "Name the row.")
        return sent

    def request(self) -> TurnRequest:
        """Give the turn; the form must be valid."""
        sent = self.cleaned_data
        return TurnRequest(
            query=sent["query"],
            session_id=sent["session_id"] or None,
            model=sent["model"].strip() or None,
            window=sent["window"],
            incognito=sent["incognito"],
            goal_turn=sent["goal_turn"],
            record=False,
        )

    def ruling(self) -> tuple[Ref, Ruling] | None:
        """Give the row and what is supposed of it; the form must be valid."""
        sent = self.cleaned_data
        return (sent["row"], Ruling(sent["supposed"])) if sent["supposed"] else None
