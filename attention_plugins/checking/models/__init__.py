"""Rules of models. Importing this registers them, in the order in which they run."""

from attention_plugins.checking.models.rows import (  # isort: skip
    check_outputs_have_the_shape_of_the_protocol,
    check_padding_changes_nothing,
    check_points_have_no_order,
    check_rows_do_not_meet,
)
from attention_plugins.checking.models.attending import (  # isort: skip
    check_interventions_change_the_output,
    check_it_takes_every_scoring,
    check_weights_are_a_distribution,
    check_weights_leave_through_the_tap,
)
from attention_plugins.checking.models.translating import (  # isort: skip
    check_a_later_word_changes_no_earlier_one,
    check_a_state_can_be_picked,
    check_forced_words_equal_steps,
    check_it_overfits_one_batch,
    check_steps_give_log_probabilities,
    check_word_by_word_equals_all_at_once,
)
from attention_plugins.checking.models.training import (  # isort: skip
    check_a_stopped_training_goes_on,
    check_training_lowers_the_error,
)
from attention_plugins.checking.models.conduct import (  # isort: skip
    check_a_checkpoint_restores_it,
    check_equal_seeds_give_equal_models,
    check_every_weight_learns,
    check_it_is_built_without_memory,
    check_it_moves_as_a_whole,
    check_nothing_is_drawn_at_random,
    check_nothing_is_kept_on_a_module,
    check_weights_stay_as_they_are,
)
from attention_plugins.checking.models.settings import (  # isort: skip
    check_every_parameter_is_used,
    check_the_record_explains_itself,
)

__all__ = [
    "check_a_checkpoint_restores_it",
    "check_a_later_word_changes_no_earlier_one",
    "check_a_state_can_be_picked",
    "check_a_stopped_training_goes_on",
    "check_equal_seeds_give_equal_models",
    "check_every_parameter_is_used",
    "check_every_weight_learns",
    "check_forced_words_equal_steps",
    "check_interventions_change_the_output",
    "check_it_is_built_without_memory",
    "check_it_moves_as_a_whole",
    "check_it_overfits_one_batch",
    "check_it_takes_every_scoring",
    "check_nothing_is_drawn_at_random",
    "check_nothing_is_kept_on_a_module",
    "check_outputs_have_the_shape_of_the_protocol",
    "check_padding_changes_nothing",
    "check_points_have_no_order",
    "check_rows_do_not_meet",
    "check_steps_give_log_probabilities",
    "check_the_record_explains_itself",
    "check_training_lowers_the_error",
    "check_weights_are_a_distribution",
    "check_weights_leave_through_the_tap",
    "check_weights_stay_as_they_are",
    "check_word_by_word_equals_all_at_once",
]
