"""The settings of a server, each read from its environment: ``ATTENTION_WORKERS`` and so on.

What plugins and the command line need too, such as where data lies, is read by
``attention_plugins`` and stands there.
"""

import functools
import os
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from dashboard import limits

PREFIX = "ATTENTION_"
_SHORTEST_SECRET = 16


def _sites(text: str) -> str:
    wrong = [each for each in text.split() if not re.fullmatch(r"'self'|'none'|[\w.:/*-]+", each)]
    if wrong or not text.split():
        raise ValueError("need sites such as https://school.example, separated by spaces")
    return " ".join(text.split())


def _names(text: str) -> str:
    if wrong := [each for each in text.split() if not re.fullmatch(r"[\w()*]+", each)]:
        raise ValueError(f"need names such as WANDB_* separated by spaces, not {wrong[0]!r}")
    return " ".join(text.split())


def _hosts(text: str) -> str:
    for each in text.split():
        if not re.fullmatch(r"\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*", each.lower()):
            raise ValueError(
                "need names such as lab.example or *.school.example, without https:// or a port, "
                "separated by spaces"
            )
    return " ".join(text.lower().split())


def _engine(text: str) -> str:
    if text != "local" and not re.fullmatch(r"ray://[\w.-]+:\d{1,5}", text):
        raise ValueError("need 'local', or a Ray cluster such as ray://head.example:10001")
    return text


_Count = Annotated[int, Field(ge=1)]


class Settings(BaseSettings):
    """Every setting, and below it what it sets; hosting.md has the same words."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, use_attribute_docstrings=True
    )

    workers: int = Field(default_factory=lambda: max(2, min(4, limits.cores())), ge=1)
    """worker processes"""
    engine: Annotated[str, AfterValidator(_engine)] = "local"
    """where workers and trainers run: `local` for this machine, or a Ray cluster such as
    `ray://head.example:10001`"""
    worker_cpus: PositiveFloat = 1.0
    """CPUs of a cluster's node that each worker or trainer takes"""
    worker_gpus: NonNegativeFloat = 0.0
    """GPUs of a cluster's node that each worker or trainer takes: `0.25` puts four on one"""
    trainers: int = Field(default_factory=lambda: 1 if limits.cores() <= 2 else 2, ge=1)
    """trainings that run side by side; further ones wait"""
    trainings: _Count = 100
    """trainings that may wait or run, of all owners"""
    trainings_per_owner: _Count = 30
    """trainings of one owner that may wait or run"""
    trainings_per_address: _Count = 50
    """trainings of owners at one address that may wait or run, such as a class behind one
    router"""
    training_hours: PositiveFloat = 6.0
    """hours that a training runs before it pauses; its owner may resume it"""
    training_epochs: _Count = 1_000
    """epochs of a training"""
    training_parameters: _Count = 50_000_000
    """weights of a model that is trained"""
    worker_memory: NonNegativeInt = Field(
        default_factory=lambda known: limits.default_memory(known["workers"] + known["trainers"])
    )
    """megabytes that one worker or trainer may allocate; 0 for no limit. While plugins are
    reloaded there may be twice as many workers"""
    worker_environment: Annotated[str, AfterValidator(_names)] = ""
    """further variables of the server's environment that workers, and so plugins, get, separated
    by spaces, with `*` for any text: `WANDB_* LAB_DATA`"""
    silence_limit: PositiveFloat | None = None
    """seconds that a job may compute without a report before it is stopped"""
    plugin_limit: PositiveFloat = 30.0
    """seconds in which one plugin must be loaded; one that takes longer is left out until *Reload
    plugins*"""
    free_work: NonNegativeFloat = 6.0
    """work that opening a link may start by itself, in seconds on one core of the machine under
    *How fast* in architecture.md; more waits for a button"""
    data_rows: int = Field(default=500_000, ge=2, le=1_000_000)  # more are not read
    """lines of an uploaded table or corpus, up to 1,000,000"""
    upload_megabytes: int = Field(default=50, ge=1, le=200)
    """megabytes of one uploaded file"""
    connections: _Count = 1000
    """connections that may be open, of all visitors; a page has up to seven while it loads, and
    then one"""
    connections_per_address: _Count = 300
    """connections that may be open from one address, such as a class behind one router"""
    session_grace: PositiveFloat = 5.0
    """seconds after which the jobs of a session end whose browser is gone"""
    uploads_megabytes: _Count = 200
    """megabytes of all files that one owner has uploaded"""
    uploads_total_megabytes: _Count = 1024
    """megabytes of all files that all owners have uploaded; beyond them nothing more is taken
    in"""
    uploads_address_megabytes: _Count = 512
    """megabytes of all files that owners at one address have uploaded, such as a class behind one
    router"""
    upload_days: NonNegativeFloat = 90.0
    """days without use after which an uploaded file expires, unless a stored run, a training or a
    kept model names it; 0 for never"""
    owners: bool = True
    """whether visitors have trainings, uploads and runs of their own, by a cookie; `0`: all share
    everything"""
    cookie_secret: SecretStr = SecretStr("")
    """signs the cookies of owners, 16 characters or more; servers that share their visitors need
    the same"""
    trust_local: bool = True
    """whether who comes from this machine itself administers the server; `0` where a proxy on this
    machine adds no `X-Forwarded-For`"""
    administrator_token: SecretStr = SecretStr("")
    """16 characters or more; who gives it on the page *Server* administers"""
    administrators: str = ""
    """e-mail addresses of those who administer once they have logged in, separated by spaces"""
    logins: str = ""
    """who may make things once they have logged in: e-mail addresses, or `@school.example` for a
    domain, separated by spaces; empty for all"""
    classroom: bool = False
    """classroom mode: nobody but an administrator trains, uploads or keeps, and a link opens with
    its controls folded away"""
    metrics: bool = False
    """whether `/metrics` gives figures for Prometheus, to whoever can reach the server: `true` or
    `false`"""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """what is logged: `warning` for failures, `info` for every start and end of a job too"""
    log_format: Literal["text", "json"] = "text"
    """how it is logged: `text`, or `json` for an object on each line"""
    frame_ancestors: Annotated[str, AfterValidator(_sites)] = "'self'"
    """the sites that may show the dashboard in a frame, such as `https://school.example`,
    separated by spaces"""
    hosts: Annotated[str, AfterValidator(_hosts)] = ""
    """the names under which browsers may ask for the dashboard, such as `lab.example
    *.school.example`, separated by spaces; `*` for any"""
    logs: str = ""
    """the folder whose folders are logs of trainings that *Attention maps* follows; anybody who
    can open the dashboard sees them"""
    database: SecretStr = SecretStr("")
    """where runs are recorded: `postgresql://user:password@host/database`, or
    `sqlite:////folder/file`"""
    blobs: str = ""
    """where the files of runs lie: a folder, or a URL that fsspec knows, such as
    `s3://bucket/runs`"""
    runs: NonNegativeInt = 1000
    """runs that one owner may store"""
    run_space: NonNegativeInt = 1024
    """megabytes that the runs of one owner may take"""
    run_space_total: NonNegativeInt = 4096
    """megabytes that all runs may take"""
    run_days: NonNegativeFloat = 0.0
    """days after which a stored run expires; 0 for never"""

    @field_validator("cookie_secret", "administrator_token")
    @classmethod
    def _long_enough(cls, secret: SecretStr) -> SecretStr:
        if 0 < len(secret.get_secret_value()) < _SHORTEST_SECRET:
            raise ValueError(f"need {_SHORTEST_SECRET} characters or more, chosen at random")
        return secret


def settings(**given: Any) -> Settings:
    """Return the settings; what is given and not None wins over the environment.

    Raises:
        ValueError: a value out of bounds; it names the variable.
    """
    if given:
        return _read(**{name: value for name, value in given.items() if value is not None})
    return _of_environment(tuple(getattr(os.environ, "_data", os.environ).items()))


@functools.lru_cache(maxsize=8)
def _of_environment(_variables: tuple[tuple[Any, Any], ...]) -> Settings:
    """Those of the environment, as bytes: read once, since every run of a page asks for them."""
    return _read()


def _read(**chosen: Any) -> Settings:
    try:
        return Settings(**chosen)
    except ValidationError as error:
        raise ValueError("; ".join(_sentence(each) for each in error.errors())) from None


_SECRETS = {name for name, one in Settings.model_fields.items() if one.annotation is SecretStr}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def description(name: str) -> str:
    """What a setting sets, in one line."""
    return " ".join((Settings.model_fields[name].description or "").split())


def _sentence(error: Any) -> str:
    message = error["msg"].removeprefix("Value error, ")
    name = variable(str(error["loc"][0]))
    given = "wrong" if error["loc"][0] in _SECRETS else repr(error["input"])
    return f"{name} is {given}: {message[0].lower()}{message[1:]}"
