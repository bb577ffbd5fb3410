import io
import os
import shutil
import struct
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.jobs import process

headers = st.dictionaries(
    st.text(st.characters()), st.none() | st.booleans() | st.integers() | st.text(), max_size=5
)


def written(*pairs):
    stream = io.BytesIO()
    for header, payload in pairs:
        process.write(stream, header, payload)
    return stream.getvalue()


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws text slowly
@given(st.lists(st.tuples(headers, st.binary(max_size=31)), max_size=3))
def test_messages_come_back_in_order_and_then_the_stream_ends(pairs):
    stream = io.BytesIO(written(*pairs))
    assert [process.read(stream) for _ in pairs] == pairs
    with pytest.raises(EOFError):
        process.read(stream)


def test_a_lone_surrogate_in_a_text_passes():
    header = {"note": "half \ud83d of a pair"}
    assert process.read(io.BytesIO(written((header, b"")))) == (header, b"")


def test_a_diverged_loss_passes():
    header, _ = process.read(io.BytesIO(written(({"loss": float("inf")}, b""))))
    assert header == {"loss": float("inf")}


def test_every_truncation_is_the_end_of_the_stream():
    whole = written(({"type": "done"}, b"result"))
    for size in range(len(whole)):
        with pytest.raises(EOFError):
            process.read(io.BytesIO(whole[:size]))


def test_foreign_bytes_are_named():
    with pytest.raises(process.WireError, match=r"start with b'AWF1', got b'word'"):
        process.read(io.BytesIO(b"words of a plugin that found the pipe"))


def test_a_header_that_is_not_json_is_refused():
    with pytest.raises(process.WireError, match="not JSON"):
        process.read(io.BytesIO(struct.pack("!4sIQ", b"AWF1", 3, 0) + b"{a}"))


@pytest.mark.parametrize(("header", "payload"), [(2**31, 0), (2, 2**62)])
def test_lengths_beyond_the_limits_are_refused_before_anything_is_read(header, payload):
    stream = io.BytesIO(struct.pack("!4sIQ", b"AWF1", header, payload) + b"{}")
    with pytest.raises(process.WireError, match="at most"):
        process.read(stream)
    assert stream.tell() == 16


def test_nothing_is_written_of_a_message_that_is_too_large(monkeypatch):
    monkeypatch.setattr(process, "MAX_PAYLOAD", 7)
    stream = io.BytesIO()
    with pytest.raises(process.WireError, match="need a result of at most 7 bytes, got 11"):
        process.write(stream, {}, b"x" * 11)
    with pytest.raises(TypeError):
        process.write(stream, {"thing": object()})
    assert stream.getvalue() == b""


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_of_what_a_worker_writes_to_stderr_its_end_is_kept():
    ended = threading.Event()
    script = "head -c 99999 /dev/zero | tr '\\0' x >&2; printf '\\036the last job' >&2"
    worker = process.WorkerProcess(["sh", "-c", script], os.environ, ended.set)
    assert ended.wait(20)
    assert len(worker._stderr_tail) == 2**15
    assert worker.ended
    assert worker.reap() == (0, "the last job")
