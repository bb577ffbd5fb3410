"""Numbers in place of the tokens of a model that came without a tokenizer."""

import pytest

from attention_plugins.contract import ContractError
from attention_plugins.huggingface.numbers import Numbers


def test_numbers_are_read_where_they_stand():
    numbers = Numbers({"vocab_size": 41})
    read = numbers("7 17  7")
    assert read == {"input_ids": [7, 17, 7], "offset_mapping": [(0, 1), (2, 4), (6, 7)]}
    assert numbers(text_target="40")["input_ids"] == [40]
    assert numbers.decode(read["input_ids"]) == "7 17 7"
    assert numbers.convert_ids_to_tokens([7, 17]) == ["7", "17"]
    assert Numbers({"vocab_size": 3}).get_vocab() == {"0": 0, "1": 1, "2": 2}


@pytest.mark.parametrize("word", ["41", "-1", "x", "²", "٣"])
def test_what_is_no_number_of_a_token_is_refused(word):
    with pytest.raises(ContractError, match="need some from 0 to 40 with spaces"):
        Numbers({"vocab_size": 41})(f"7 {word}")


@pytest.mark.parametrize(("told", "mask"), [(3, 3), (None, None), (41, None), (40, 40)])
def test_a_mask_is_one_of_the_tokens(told, mask):
    numbers = Numbers({"vocab_size": 41, "mask_token_id": told, "bos_token_id": 0,
                       "eos_token_id": [1, 2], "pad_token_id": 5})  # fmt: skip
    assert numbers.mask_token_id == mask
    assert numbers.all_special_ids == [0, 5]
    assert numbers.bos_token_id == 0
    assert Numbers({"eos_token_id": 1}).all_special_ids == [1]
