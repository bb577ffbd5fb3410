from dashboard.jobs.job import MAX_EVENTS, Computation, Job
from dashboard.records.request import Request

ECHO = Request.make("echo")


def test_events_are_numbered_from_one_and_the_final_one_is_known():
    job = Job(ECHO, [])
    job.add("queued")
    job.add("started")
    assert job.final is None
    job.add("failed", note="why")
    assert [event.number for event in job.events] == [1, 2, 3]
    assert job.final is job.events[-1]


def test_of_a_flood_the_newest_progress_and_every_other_stage_are_kept():
    job = Job(ECHO, [])
    job.add("queued")
    job.add("started")
    for step in range(MAX_EVENTS * 2):
        job.add("progress", facts={"step": step})
    job.add("done")
    assert len(job.events) == MAX_EVENTS
    assert [event.stage for event in job.events[:3]] == ["queued", "started", "progress"]
    assert job.events[-1].number == MAX_EVENTS * 2 + 3
    steps = [event.facts["step"] for event in job.events if event.stage == "progress"]
    assert steps == list(range(MAX_EVENTS + 3, MAX_EVENTS * 2))


def test_a_job_that_joins_sees_what_happened_before():
    computation = Computation(Request.make("echo"))
    first = computation.join(7.0)
    computation.publish("started")
    second = computation.join(5.0)
    computation.publish("progress", fraction=0.5)
    assert [event.stage for event in second.events] == ["queued", "started", "progress"]
    assert second.events == first.events
    assert second.events is not first.events


def test_a_job_that_is_being_stopped_gets_only_its_final_event():
    computation = Computation(Request.make("echo"))
    job = computation.join(7.0)
    computation.stopping = "cancelled"
    for stage in ("started", "progress", "cancelled"):
        computation.publish(stage)
    assert [event.stage for event in job.events] == ["queued", "cancelled"]


def test_the_longest_time_limit_holds():
    computation = Computation(Request.make("echo"))
    for limit in (5.0, 11.0, 7.0):
        computation.join(limit)
    assert computation.time_limit == 11.0


def test_ids_are_128_random_bits():
    ids = {Job(ECHO, []).id for _ in range(101)}
    assert len(ids) == 101
    assert all(len(bytes.fromhex(job)) == 16 for job in ids)
