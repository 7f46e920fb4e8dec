"""The pages of what is delivered. A view parses, calls one function and renders."""
