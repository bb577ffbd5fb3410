"""The settings of a server, each read from its environment: ``ATTENTION_WORKERS`` and so on.

What plugins and the command line need too, such as where data lies, is read by
``attention_plugins`` and stands there.
"""

import functools
import os
import re
from typing import Annotated, Any, Literal

import pydantic
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from dashboard import limits
from dashboard.records.beside import beside

_WORDS = beside(__file__, "words.toml")["settings"]
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
    """Every setting; what each sets is said by ``words.toml``, and by hosting.md in its words."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    workers: int = Field(default_factory=lambda: max(2, min(4, limits.cores())), ge=1)
    engine: Annotated[str, pydantic.AfterValidator(_engine)] = "local"
    worker_cpus: PositiveFloat = 1.0
    worker_gpus: NonNegativeFloat = 0.0
    trainers: int = Field(default_factory=lambda: 1 if limits.cores() <= 2 else 2, ge=1)
    trainings: _Count = 100
    trainings_per_owner: _Count = 30
    trainings_per_address: _Count = 50
    training_hours: PositiveFloat = 6.0
    training_epochs: _Count = 1_000
    training_parameters: _Count = 50_000_000
    worker_memory: NonNegativeInt = Field(
        default_factory=lambda known: limits.default_memory(known["workers"] + known["trainers"])
    )
    worker_environment: Annotated[str, pydantic.AfterValidator(_names)] = ""
    silence_limit: PositiveFloat | None = None
    plugin_limit: PositiveFloat = 30.0
    free_work: NonNegativeFloat = 6.0
    data_rows: int = Field(default=500_000, ge=2, le=1_000_000)  # more are not read
    upload_megabytes: int = Field(default=50, ge=1, le=200)
    connections: _Count = 1000
    connections_per_address: _Count = 300
    session_grace: PositiveFloat = 5.0
    uploads_megabytes: _Count = 200
    uploads_total_megabytes: _Count = 1024
    uploads_address_megabytes: _Count = 512
    upload_days: NonNegativeFloat = 90.0
    owners: bool = True
    cookie_secret: SecretStr = SecretStr("")
    trust_local: bool = True
    administrator_token: SecretStr = SecretStr("")
    administrators: str = ""
    logins: str = ""
    classroom: bool = False
    metrics: bool = False
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    log_format: Literal["text", "json"] = "text"
    frame_ancestors: Annotated[str, pydantic.AfterValidator(_sites)] = "'self'"
    hosts: Annotated[str, pydantic.AfterValidator(_hosts)] = ""
    logs: str = ""
    database: SecretStr = SecretStr("")
    blobs: str = ""
    runs: NonNegativeInt = 1000
    run_space: NonNegativeInt = 1024
    run_space_total: NonNegativeInt = 4096
    run_days: NonNegativeFloat = 0.0

    @pydantic.field_validator("cookie_secret", "administrator_token")
    @classmethod
    def _long_enough(cls, secret: SecretStr) -> SecretStr:
        if 0 < len(secret.get_secret_value()) < _SHORTEST_SECRET:
            raise ValueError(f"need {_SHORTEST_SECRET} characters or more, chosen at random")
        return secret


def settings(**given: Any) -> Settings:
    """Return the settings; what is given and not None wins over the environment.

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
    except pydantic.ValidationError as error:
        raise ValueError("; ".join(_sentence(each) for each in error.errors())) from None


_SECRETS = {name for name, one in Settings.model_fields.items() if one.annotation is SecretStr}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def description(name: str) -> str:
    """What a setting sets, in one line."""
    return _WORDS[name]


def _sentence(error: Any) -> str:
    message = error["msg"].removeprefix("Value error, ")
    name = variable(str(error["loc"][0]))
    given = "wrong" if error["loc"][0] in _SECRETS else repr(error["input"])
    return f"{name} is {given}: {message[0].lower()}{message[1:]}"
