"""What storage raises; the message is one sentence for the reader."""


class StorageError(ValueError):
    """A file or a folder that cannot be read or written."""


class BundleError(ValueError):
    """A bundle that is rejected, or cannot be made."""
