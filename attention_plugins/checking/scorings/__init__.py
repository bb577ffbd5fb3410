"""Rules of scorings. Importing this registers them, in the order in which they run."""

from attention_plugins.checking.scorings import conduct, independence, weights  # isort: skip

__all__ = ["conduct", "independence", "weights"]
