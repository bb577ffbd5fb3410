"""Callbacks that log attention while somebody else's loop trains: Lightning's, transformers'."""

import importlib
from pathlib import Path
from typing import Any

from attention_plugins.logged_watch import LoggedWatch
from attention_plugins.model_watch import watch


def trainer_log(folder: str | Path, every: int = 100, **watching: Any) -> Any:
    """A callback of transformers: ``Trainer(model, ..., callbacks=[trainer_log("logs/a")])``.

    The first call of the model in each ``every``-th step is logged under the step's number.

    Args:
        folder, every: see :func:`~attention_plugins.model_watch.watch`.
        watching: ``layers``, ``heads``, ``rows`` and so on, as ``watch`` takes them.

    Raises:
        ImportError: transformers is not installed.
    """
    from transformers import TrainerCallback

    class TrainerLog(TrainerCallback):
        _log: LoggedWatch

        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self._log = watch(more["model"], log=folder, every=every, **watching)
            self._log.__enter__()

        def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self._log.step = state.global_step

        def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            self._log.__exit__()

    return TrainerLog()


def lightning_log(folder: str | Path, every: int = 100, **watching: Any) -> Any:
    """A callback of Lightning: ``Trainer(callbacks=[lightning_log("logs/a")])``.

    What the first batch of each ``every``-th step runs is logged under the step's number.
    Arguments as of :func:`trainer_log`.

    ImportError: Lightning is not installed.
    """

    class LightningLog(importlib.import_module("lightning.pytorch").Callback):
        _log: LoggedWatch

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self._log = watch(pl_module, log=folder, every=every, **watching)

        def on_train_batch_start(self, trainer: Any, *more: Any) -> None:
            self._log.begin(trainer.global_step)

        def on_train_batch_end(self, *more: Any) -> None:
            self._log.end()

        def on_exception(self, *more: Any) -> None:
            self._log.end(logs=False)

    return LightningLog()
