"""The command line and the environment of a worker."""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from dashboard import limits

_ROOT = Path(__file__).resolve().parents[2]

# What attention_plugins itself reads.
OWN = (
    "ATTENTION_PLUGINS", "ATTENTION_CHECKPOINTS", "ATTENTION_TATOEBA", "ATTENTION_WORKBENCH_HOME",
)  # fmt: skip

# The variables of the server that its workers get, with * for any text. What is not listed, such
# as keys and passwords, does not reach the plugins that workers run.
PASSED_ON = (
    # where programs, libraries and files lie: Unix, macOS, conda, virtual environments
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TEMP", "TMP", "XDG_*_HOME",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_*_PATH", "__CF_USER_TEXT_ENCODING",
    "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "VIRTUAL_ENV",
    # Windows does not start a process, or a socket, without some of these
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "PROCESSOR_*",
    "NUMBER_OF_PROCESSORS", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA",
    "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "COMMONPROGRAMFILES",
    # language and time
    "LANG", "LANGUAGE", "LC_*", "TZ", "TZDIR",
    # Python and what computes
    "PYTHON*", "OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "NUMEXPR_*", "VECLIB_*",
    "MALLOC_*", "TORCH_*", "PYTORCH_*", "TRITON_*", "CUDA_*", "CUBLAS_*", "CUDNN_*", "NCCL_*",
    "NVIDIA_*", "HIP_*", "ROCR_*", "HSA_*",
    # downloads; the Hub's token is none of these
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT",
    "TRANSFORMERS_OFFLINE",
    # the server's own settings are none of these
    *OWN,
)  # fmt: skip


def command(tasks: str, memory: int, warm: bool, nice: int = 0) -> list[str]:
    """Return the command line that starts a worker.

    Args:
        tasks: the module whose ``perform`` it calls.
        memory: megabytes it may allocate, 0 for no limit.
        warm: import torch before the first job.
        nice: its niceness, 0 to 19.
    """
    # -P: the folder that the server was started in may hold any modules.
    words = [sys.executable, "-P", "-m", "dashboard.jobs.worker", "--tasks", tasks]
    words += ["--parent", str(os.getpid()), "--memory", str(memory)]
    if nice:
        words += ["--nice", str(nice)]
    return words if warm else [*words, "--cold"]


def environment(
    workers: int, extra: Mapping[str, str], passed_on: Iterable[str] = ()
) -> dict[str, str]:
    """Return the variables of one of ``workers`` workers: of this process's those in the list.

    The workers share the cores, and their waiting threads sleep. The project comes first on the
    path, since a page may run without the project being installed.

    Args:
        workers: that share the cores.
        extra: variables besides this process's own; they win.
        passed_on: names of further variables of this process, with ``*`` for any text.
    """
    found = {
        "OMP_NUM_THREADS": str(max(1, limits.cores() // workers)),
        "OMP_WAIT_POLICY": "passive",
        **_passed_on((*PASSED_ON, *passed_on)),
        **extra,
    }
    path = [str(_ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return {**found, "PYTHONPATH": os.pathsep.join(path)}


def variables_for_elsewhere(passed_on: Iterable[str]) -> dict[str, str]:
    """Return the variables of this process that its workers on other machines get.

    Where programs and files lie is for those machines to say.

    Args:
        passed_on: names of those besides :data:`OWN`, with ``*`` for any text.
    """
    return _passed_on((*OWN, *passed_on))


def _passed_on(patterns: Iterable[str]) -> dict[str, str]:
    allowed = tuple(patterns)
    return {
        name: value
        for name, value in os.environ.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)
    }
