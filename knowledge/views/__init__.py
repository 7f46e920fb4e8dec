"""The pages of what is known."""
