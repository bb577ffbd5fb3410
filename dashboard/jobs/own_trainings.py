"""The trainings as one visitor may use them: seen by all who have a link, changed by the owner."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pyarrow as pa

from dashboard.jobs.training_status import expected
from dashboard.jobs.trainings import Trainings
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.training import Training
from dashboard.visitors import Visitor

_TRAINING = gettext_noop("this training")


class OwnTrainings:
    """Checks what a visitor may do before :class:`~dashboard.jobs.trainings.Trainings` does it.

    Every method that changes something raises :class:`~dashboard.visitors.NotAllowed`, a
    ``ValueError``, if the visitor may not, and otherwise what the trainings raise.
    """

    def __init__(self, trainings: Trainings, visitor: Visitor) -> None:
        self._trainings, self._visitor = trainings, visitor

    def list(self, linked: Sequence[str] = ()) -> list[Training]:
        """Return the visitor's trainings, the newest first; an administrator's are all.

        ``linked`` are first digits of ids that a link names, whoever owns them.
        """
        visitor = self._visitor
        return [
            one for one in self._trainings.list()
            if visitor.administers or one.owner == visitor.owner
            or (linked and one.id.startswith(tuple(linked)))
        ]  # fmt: skip

    def every(self) -> list[Training]:
        """Return the trainings of all owners, to be found by their requests."""
        return self._trainings.list()

    def expected(self, requests: Sequence[Request]) -> float | None:
        """Return the mean seconds of such trainings, by those that are alike; None if unknown."""
        known = self._trainings.list()
        seconds = [expected(request, known) for request in requests]
        found = [one for one in seconds if one is not None]
        return fmean(found) if found and len(found) == len(seconds) else None

    def owns(self, training: Training) -> bool:
        """Whether the visitor may change a training."""
        visitor = self._visitor
        return visitor.administers or (training.owner == visitor.owner and visitor.makes)

    def start(self, request: Request) -> str:
        """See :meth:`Trainings.start`."""
        self._visitor.see_that_it_makes("Training")
        return self._trainings.start(request, self._visitor.owner, self._visitor.address)

    def probe(self, id: str, epoch: int) -> pa.Table:
        """See :meth:`Trainings.probe`."""
        return self._trainings.probe(id, epoch)

    def pause(self, id: str) -> None:
        """See :meth:`Trainings.pause`."""
        self._owned(id).pause(id)

    def resume(self, id: str) -> None:
        """See :meth:`Trainings.resume`."""
        self._owned(id).resume(id, address=self._visitor.address)

    def cancel(self, id: str) -> None:
        """See :meth:`Trainings.cancel`."""
        self._owned(id).cancel(id)

    def remove(self, id: str) -> None:
        """See :meth:`Trainings.remove`."""
        self._owned(id).remove(id)

    def export(self, id: str, name: str) -> str:
        """See :meth:`Trainings.export`."""
        return self._owned(id).export(id, name)

    def _owned(self, id: str) -> Trainings:
        """The trainings, to change one of them that the visitor owns."""
        self._visitor.see_that_it_owns(self._trainings.get(id).owner, _TRAINING)
        return self._trainings
