"""Rules of models. Importing this registers them, in the order in which they run."""

from attention_plugins.checking.models import attending, translating, conduct  # isort: skip

__all__ = ["attending", "conduct", "translating"]
