"""Whose turn it is, without threads or processes."""

import math

import pytest

from dashboard.jobs.fair_queue import LONG_WORK, FairQueue
from dashboard.jobs.job import Computation
from dashboard.records.request import Request

LONG = 2 * LONG_WORK


def computation(name, *clients, work=0.0, cost=1.0):
    made = Computation(Request.make("echo", options={"name": name}))
    made.cost = cost
    for client in clients:
        made.join(7.0, client, work)
    return made


def filled(workers, *asked):
    """A queue with ``"a1"``, the first computation of client a, and so on."""
    queue = FairQueue(workers)
    for name in asked:
        queue.add(computation(name, name[0], work=LONG if name.endswith("long") else 0.0))
    return queue


def name(one):
    return dict(one.request.options)["name"]


def take(queue):
    return name(queue.take())


def ended(queue, wanted):
    (found,) = [each for each in queue.running if name(each) == wanted]
    queue.end(found)


def served_by_one_worker(queue):
    """The order in which a single worker serves them."""
    order = []
    while len(queue):
        order.append(take(queue))
        ended(queue, order[-1])
    return order


def test_one_client_is_served_in_the_order_of_its_requests():
    assert served_by_one_worker(filled(1, "a1", "a2", "a3")) == ["a1", "a2", "a3"]


def test_clients_take_turns_however_much_one_of_them_asks():
    queue = filled(1, "a1", "a2", "a3", "a4", "b1", "c1", "b2")
    assert served_by_one_worker(queue) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_who_comes_back_stands_behind_those_that_wait():
    queue = filled(1, "a1", "b1", "c1")
    assert take(queue) == "a1"
    ended(queue, "a1")
    queue.add(computation("a2", "a"))
    assert served_by_one_worker(queue) == ["b1", "c1", "a2"]


def test_a_lone_client_has_every_worker():
    queue = filled(3, "a1", "a2", "a3", "a4")
    assert [take(queue) for _ in range(3)] == ["a1", "a2", "a3"]


def test_a_client_with_nothing_running_comes_before_those_that_have():
    queue = filled(3, "a1", "a2", "a3")
    assert [take(queue), take(queue)] == ["a1", "a2"]
    queue.add(computation("b1", "b"))
    queue.add(computation("c1", "c"))
    assert take(queue) == "b1"
    ended(queue, "a1")
    assert take(queue) == "c1"  # a still has one running
    ended(queue, "a2")
    assert take(queue) == "a3"


def test_what_costs_little_comes_before_what_costs_much():
    queue = FairQueue(1)
    for one in ("a1", "a2", "b1", "b2"):
        queue.add(computation(one, one[0], cost=3.0))
    assert take(queue) == "a1"
    queue.add(computation("c1", "c", cost=0.1))
    ended(queue, "a1")
    assert served_by_one_worker(queue) == ["c1", "b1", "a2", "b2"]


def test_what_costs_much_is_served_however_much_little_comes():
    queue = FairQueue(1)
    queue.add(computation("a1", "a", cost=3.0))
    order = []
    for number in range(9):
        queue.add(computation(f"b{number}", "b", cost=1.0))
        order.append(take(queue))
        ended(queue, order[-1])
    assert order.index("a1") == 4


def test_what_was_cancelled_does_not_count():
    queue = filled(1, "a1", "b1")
    for number in range(7):
        dragged = computation(f"c{number}", "c")
        queue.add(dragged)
        queue.end(dragged)
    queue.add(computation("c7", "c"))
    queue.add(computation("a2", "a"))
    assert served_by_one_worker(queue) == ["a1", "b1", "c7", "a2"]


def test_the_server_itself_comes_first():
    queue = filled(1, "a1", "b1")
    queue.add(computation("catalogue", ""))
    assert take(queue) == "catalogue"


def test_what_is_shared_is_served_in_the_turn_of_the_first_of_its_clients():
    queue = filled(1, "a1", "a2", "b1")
    shared = computation("shared", "c", "b")
    queue.add(shared)
    queue.add(computation("a3", "a"))
    assert [take(queue) for _ in "123"] == ["a1", "b1", "shared"]
    assert shared.served == "c"


def test_who_joins_a_waiting_computation_may_bring_it_forward():
    queue = filled(1, "a1", "a2", "a3", "b1")
    (shared,) = [each for each in queue if name(each) == "a3"]
    shared.join(7.0, "c")
    queue.update()
    assert served_by_one_worker(queue) == ["a1", "a3", "b1", "a2"]


def test_what_its_first_client_leaves_counts_for_the_other():
    queue = FairQueue(2)
    shared = computation("shared", "a", "b")
    queue.add(shared)
    assert queue.take().served == "a"
    shared.jobs.pop(0)
    queue.update()
    assert shared.served == "b"
    for one in ("b1", "a1"):
        queue.add(computation(one, one[0]))
    assert take(queue) == "a1"


def test_what_is_put_back_is_next_again():
    queue = filled(1, "a1", "a2", "b1", "c1")
    taken = queue.take()
    queue.put_back(taken)
    assert served_by_one_worker(queue) == ["a1", "b1", "c1", "a2"]


def test_nothing_can_be_taken_of_an_empty_queue():
    with pytest.raises(LookupError):
        FairQueue(2).take()


def test_long_ones_take_every_worker_while_nobody_else_waits():
    queue = filled(2, "a1 long", "a2 long", "b1 long")
    assert [take(queue), take(queue)] == ["a1 long", "b1 long"]
    assert queue.in_the_way() is None  # what waits is long, too


def test_the_long_one_begun_last_gives_way_once():
    queue = filled(2, "a1 long", "a2 long")
    queue.take()
    last = queue.take()
    queue.add(computation("b1", "b"))
    assert queue.in_the_way() is last
    last.stopping = "cancelled"
    assert queue.in_the_way() is None, "a worker will be free anyway"
    last.stopping, last.giving_way = None, True
    assert queue.in_the_way() is None  # one at a time
    last.giving_way, last.gave_way = False, True
    queue.put_back(last)
    assert take(queue) == "b1"
    ended(queue, "b1")
    assert queue.next() is None  # it leaves a worker free
    queue.add(computation("c1", "c"))
    assert take(queue) == "c1"
    ended(queue, "a1 long")
    assert queue.take() is last


def test_a_single_worker_is_never_taken_from_a_long_one():
    queue = filled(1, "a1 long", "b1")
    queue.take()
    assert queue.in_the_way() is None


def test_what_has_taken_long_already_is_long():
    now = [100.0]
    queue = FairQueue(2, clock=lambda: now[0])
    for one in ("a1", "b1", "c1"):
        queue.add(computation(one, one[0]))
    for taken in (queue.take(), queue.take()):
        taken.started = 100.0
    now[0] += LONG_WORK
    assert queue.in_the_way() is None
    now[0] += 1.0
    assert name(queue.in_the_way()) == "b1"


def test_after_one_gave_way_others_leave_a_worker_free_for_a_minute():
    now = [100.0]
    queue = FairQueue(2, clock=lambda: now[0])
    for one in ("a1", "b1", "c1", "d1"):
        queue.add(computation(one, one[0], work=LONG))
    queue.take()
    last = queue.take()
    last.gave_way = True
    queue.put_back(last)
    assert queue.next() is None
    now[0] += 59.0
    assert queue.copy().next() is None, "who looks ahead waits as long"
    now[0] += 2.0
    assert name(queue.copy().next()) == "c1"
    assert take(queue) == "c1"  # b1 gave way, and leaves a worker free for good


def test_nothing_gives_way_while_a_short_one_will_end():
    queue = filled(2, "a1 long", "b1", "c1")
    queue.take()
    queue.take()
    assert queue.in_the_way() is None


def test_a_copy_leaves_the_queue_as_it_is():
    queue = filled(1, "z1", "a1", "a2", "b1")
    queue.take()
    ended(queue, "z1")
    assert vars(queue.copy()) == vars(queue)
    assert served_by_one_worker(queue.copy()) == ["a1", "b1", "a2"]
    assert served_by_one_worker(queue) == ["a1", "b1", "a2"]


def test_where_none_is_long_none_gives_way():
    queue = FairQueue(2, math.inf, lambda: 1e9)
    for one in ("a1", "b1", "c1"):
        queue.add(computation(one, one[0]))
    for taken in (queue.take(), queue.take()):
        taken.started = 100.0
    assert queue.in_the_way() is None


def test_a_running_one_that_everybody_left_disturbs_nobody():
    queue = filled(1, "a1", "b1")
    queue.take().jobs.clear()
    queue.update()
    ended(queue, "a1")
    assert take(queue) == "b1"
