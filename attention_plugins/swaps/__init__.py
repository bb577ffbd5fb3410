"""Other scorings in models that others wrote: :func:`attention_plugins.swap` and what it takes."""
