"""Rules of scorings. Importing this registers them, in the order in which they run."""

from attention_plugins.checking.scorings.shapes import (  # isort: skip
    check_dimensions_of_one_stay,
    check_queries_and_keys_may_differ_in_size,
    check_scores_have_the_shape_of_queries_by_keys,
)
from attention_plugins.checking.scorings.conduct import (  # isort: skip
    check_equal_inputs_give_equal_scores,
    check_inputs_stay_as_they_are,
    check_it_takes_at_most_200_dot_products,
    check_nothing_is_drawn_at_random,
    check_nothing_is_kept_on_a_module,
    check_weights_stay_as_they_are,
)
from attention_plugins.checking.scorings.precision import (  # isort: skip
    check_a_kernel_is_positive,
    check_it_is_built_without_memory,
    check_precision_is_that_of_the_inputs,
    check_it_stays_on_the_device_of_its_inputs,
)
from attention_plugins.checking.scorings.independence import (  # isort: skip
    check_a_masked_key_changes_nothing,
    check_batch_rows_do_not_meet,
    check_keys_are_projected_one_by_one,
    check_moving_a_key_moves_its_scores,
    check_padding_changes_nothing,
    check_queries_do_not_meet,
)
from attention_plugins.checking.scorings.numbers import (  # isort: skip
    check_every_weight_learns,
    check_gradients_are_finite,
    check_gradients_are_those_of_the_formula,
    check_gradients_reach_queries_and_keys,
    check_scores_are_finite,
)
from attention_plugins.checking.scorings.settings import (  # isort: skip
    check_a_checkpoint_restores_it,
    check_every_parameter_is_used,
    check_learnable_parameters_are_weights,
    check_the_record_explains_itself,
)
from attention_plugins.checking.scorings.weights import (  # isort: skip
    check_a_sentence_attends_alone_as_among_others,
    check_rows_do_not_meet,
    check_unwatched_attention_is_the_same,
    check_weights_are_sound_with_every_number_of_heads,
)

__all__ = [
    "check_a_checkpoint_restores_it",
    "check_a_kernel_is_positive",
    "check_a_masked_key_changes_nothing",
    "check_a_sentence_attends_alone_as_among_others",
    "check_batch_rows_do_not_meet",
    "check_dimensions_of_one_stay",
    "check_equal_inputs_give_equal_scores",
    "check_every_parameter_is_used",
    "check_every_weight_learns",
    "check_gradients_are_finite",
    "check_gradients_are_those_of_the_formula",
    "check_gradients_reach_queries_and_keys",
    "check_inputs_stay_as_they_are",
    "check_it_is_built_without_memory",
    "check_it_stays_on_the_device_of_its_inputs",
    "check_it_takes_at_most_200_dot_products",
    "check_keys_are_projected_one_by_one",
    "check_learnable_parameters_are_weights",
    "check_moving_a_key_moves_its_scores",
    "check_nothing_is_drawn_at_random",
    "check_nothing_is_kept_on_a_module",
    "check_padding_changes_nothing",
    "check_precision_is_that_of_the_inputs",
    "check_queries_and_keys_may_differ_in_size",
    "check_queries_do_not_meet",
    "check_rows_do_not_meet",
    "check_scores_are_finite",
    "check_scores_have_the_shape_of_queries_by_keys",
    "check_the_record_explains_itself",
    "check_unwatched_attention_is_the_same",
    "check_weights_are_sound_with_every_number_of_heads",
    "check_weights_stay_as_they_are",
]
