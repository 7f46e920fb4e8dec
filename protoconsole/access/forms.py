"""What people type into the pages of this app."""

from django import forms

from protoconsole.access.errors import BadValue
from protoconsole.access.keys import MAX_NAME_CHARS, create_key
from protoconsole.access.models import ApiKey
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

    def create(self, created_by: str) -> tuple[ApiKey, str] | None:
        """Make the key and return it with its token; None when the form says what is wrong."""
        if not self.is_valid():
            return None
        values = self.cleaned_data
        try:
            return create_key(
                values["name"],
                Role(values["role"]),
                may_confirm=values["may_confirm"],
                created_by=created_by,
            )
        except BadValue as error:
            self.add_error(error.field, error.detail)
            return None
