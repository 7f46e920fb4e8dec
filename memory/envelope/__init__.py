"""The text in front of a model: written, kept safe from what it quotes, and read back."""
