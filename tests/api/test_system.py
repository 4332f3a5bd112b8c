"""The dataclasses cover exactly the content of configuration files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import (
    AddressMap,
    Config,
    ConfigError,
    Core,
    Fio,
    FioJob,
    Lfb,
    Memory,
    Run,
    Server,
    Stream,
    _core,
    system,
)
from hostnet.system.description import Description, FieldError
from tests.support import QUADRANT, raises_code


def test_a_complete_configuration_survives_the_round_trip() -> None:
    content = json.loads(_core.resolve(QUADRANT, file="quadrant.toml").effective_json())
    config = Config.from_dict(content)
    assert config.to_dict() == content
    assert config.core.lfb.entries == content["core"]["lfb"]["entries"]
    assert isinstance(config.workload["disk"], Fio)
    plan = _core.resolve(json.dumps(config.to_dict()), format="json")
    assert plan.hash == _core.resolve(QUADRANT).hash


@pytest.mark.parametrize("name", system.__all__)
def test_every_class_shows_what_is_set_alone(name: str) -> None:
    kind: Any = getattr(system, name)
    assert vars(Description)["__repr__"] is kind.__repr__
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    assert needed or repr(kind()) == f"{name}()"


def test_what_is_shown_is_the_way_to_write_it() -> None:
    config = Config(server=Server(preset="x"), core=Core(lfb=Lfb(entries=0)), workload={"a": Stream(cores=[1])})
    assert repr(config) == (
        "Config(server=Server(preset='x'), core=Core(lfb=Lfb(entries=0)), workload={'a': Stream(cores=[1])})"
    )
    assert repr(Config(base_dir="/x")) == "Config(base_dir='/x')"


def test_nothing_set_is_nothing_said() -> None:
    assert Config().to_dict() == {}
    assert Config(run=Run(seed=0)).to_dict() == {"run": {"seed": 0}}


def test_workloads_say_their_kind() -> None:
    config = Config(
        server=Server(preset="cascade-lake-6234"),
        memory=Memory(map=AddressMap(channel=["6"])),
        workload={
            "a": Stream(cores=[0, 1]),
            "b": Fio(jobs=[FioJob(rw="read", bs="4 KiB", iodepth=1, size="1 MiB", ssd=0)]),
        },
    )
    content = config.to_dict()
    assert content["workload"]["a"] == {"kind": "stream", "cores": [0, 1]}
    assert content["workload"]["b"]["kind"] == "fio"
    assert content["workload"]["b"]["jobs"][0]["iodepth"] == 1
    assert content["memory"]["map"] == {"channel": ["6"]}
    assert list(content) == ["server", "memory", "workload"]


def test_files_are_checked_when_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(QUADRANT.replace('name = "quadrant"\n', ""))
    assert Config.from_toml(file).run.name == "mine"
    assert Config.from_toml(file).base_dir == str(tmp_path)
    file.write_text(QUADRANT.replace("seed", "sead"))
    with raises_code('unknown-key | mine.toml:6 | run.sead | "seed"'):
        Config.from_toml(file)
    with pytest.raises(ConfigError):
        Config.from_dict({"core": {"count": -1}})


def test_descriptions_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Server().preset = "x"  # type: ignore[misc]
    assert isinstance(Config().workload, Mapping)


def test_a_field_that_is_not_there_is_told_with_the_nearest_one() -> None:
    with raises_code('unknown-key | Memory | "channelz" | did you mean "channels"', FieldError):
        Memory(channelz=2)  # type: ignore[call-arg]
    assert issubclass(FieldError, TypeError), "as for any call with an argument that is not there"


def test_a_preset_that_is_not_there_is_told_with_the_nearest_one() -> None:
    described = Config(server=Server(preset="casade"), workload={"stream": Stream(cores="0")})
    with raises_code('unknown-name | server.preset | "casade" | did you mean "cascade-lake-6234"'):
        hostnet.run(described)


@pytest.mark.parametrize(
    ("setting", "nearest"),
    [
        ("memory.device=DDR5_4900", "DDR5_4800"),
        ("memory.device=DDR4_2934", "DDR4_2933"),
        ("server.preset=casade", "cascade-lake-6234"),
        ("server.preset=cascade-lake-6243", "cascade-lake-6234"),
    ],
)
def test_hints_are_of_the_same_family(setting: str, nearest: str) -> None:
    with raises_code(f"unknown-name | {nearest}"):
        _core.resolve(QUADRANT, overrides=[setting])
