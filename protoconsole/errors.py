"""Faults of the ground that both apps stand on; doors map them once."""


class StoreBusy(Exception):
    """The write lock of a store could not be had in time (503, with Retry-After)."""


class StoreUnusable(Exception):
    """A store cannot be opened. The text is one line that names the file, the fault and the mend."""
