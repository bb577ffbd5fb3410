"""Rules of scorings. Importing this registers them, in the order in which they run."""

from attention_plugins.checking.scorings.shapes import (
    check_dimensions_of_one_stay,
    check_scores_have_the_shape_of_queries_by_keys,
)

__all__ = [
    "check_dimensions_of_one_stay",
    "check_scores_have_the_shape_of_queries_by_keys",
]
