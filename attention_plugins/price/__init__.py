"""The price of a swap: what another scoring costs a model that was trained with its own.

On texts that nobody tuned on, the loss right after the swap, and after as many steps of tuning as
the original gets: at the same rates, on the same batches. Seeds are paired, so that a difference
has an interval and a p as those of a race have: ``python -m attention_plugins swap``.
"""
