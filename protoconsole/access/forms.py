"""What people type into the pages of this app."""

from typing import cast

from django import forms

from protoconsole.access.keys import MAX_NAME_CHARS
from protoconsole.actors import Role


class KeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(max_length=MAX_NAME_CHARS, help_text="The program that will hold the key.")
    role = forms.ChoiceField(choices=[(role.value, role.value) for role in Role], initial=Role.AGENT.value)
    may_confirm = forms.BooleanField(
        required=False,
        label="May confirm what it adds",
        help_text="For plugins only: their rows then need no review.",
    )

    @property
    def chosen_role(self) -> Role:
        return Role(cast("str", self.cleaned_data["role"]))
