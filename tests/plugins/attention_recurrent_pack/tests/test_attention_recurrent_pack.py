"""The workbench's own rules of models."""

import pytest
from attention_recurrent_pack import LUONG

from attention_plugins.checking.pytest import model_rules


@pytest.mark.parametrize("rule", model_rules(LUONG))
def test_it_holds_everywhere(rule):
    rule()
