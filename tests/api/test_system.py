"""The dataclasses describe exactly what a configuration file can hold."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from hostnet import AddressMap, App, Config, ConfigError, Fio, FioJob, Memory, RemoteStream, Run, Server, Stream, _core
from tests.support import QUADRANT

SCHEMA: dict[str, Any] = json.loads(_core.schema())

NOT_IN_FILES = {"base_dir"}

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


def tables(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table that a file can hold, with its path; `*` is any name or any element."""
    if "properties" in schema:
        yield path, schema
    for name, key in schema.get("properties", {}).items():
        yield from tables(key, f"{path}.{name}".removeprefix("."))
    for choice in (*schema.get("oneOf", []), *schema.get("anyOf", [])):
        kind = choice.get("properties", {}).get("kind", {}).get("const", "")
        yield from tables(choice, f"{path}:{kind}".removesuffix(":"))
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from tables(schema[part], f"{path}.*")


def classes(kind: type, path: str = "") -> Iterator[tuple[str, type]]:
    """Every dataclass with the path at which it stands in a file."""
    yield path, kind
    for name, hint in get_type_hints(kind).items():
        yield from classes_in(hint, f"{path}.{name}".removeprefix("."))


def classes_in(hint: Any, path: str) -> Iterator[tuple[str, type]]:
    if isinstance(hint, type) and is_dataclass(hint):
        kind = {Stream: ":stream", Fio: ":fio", App: ":app", RemoteStream: ":remote"}.get(hint, "")
        yield from classes(hint, path + kind)
    for argument in get_args(hint):
        inside = ".*" if getattr(hint, "__origin__", None) is not None and argument is not str else ""
        yield from classes_in(argument, path + inside)


TABLES = dict(tables(SCHEMA))
CLASSES = dict(classes(Config))


def test_every_table_has_a_class() -> None:
    assert set(TABLES) == set(CLASSES)


@pytest.mark.parametrize("path", TABLES)
def test_keys_types_and_requirements_agree(path: str) -> None:
    keys = {name: key for name, key in TABLES[path]["properties"].items() if name != "kind"}
    kind = CLASSES[path]
    assert set(keys) == {field.name for field in fields(kind)} - NOT_IN_FILES
    hints = get_type_hints(kind)
    for name, key in keys.items():
        kinds = key.get("type", [])
        for form in [kinds] if isinstance(kinds, str) else kinds:
            if form in TYPES:
                assert TYPES[form] in (hints[name], *get_args(hints[name])), name
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    assert needed == set(TABLES[path].get("required", [])) - {"kind"}


def docstrings(kind: type) -> dict[str, str]:
    """What stands below each field of a class."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


@pytest.mark.parametrize("path", TABLES)
def test_every_field_is_described_with_its_range(path: str) -> None:
    described = docstrings(CLASSES[path])
    for name, key in TABLES[path]["properties"].items():
        if name != "kind":
            limit = key.get("x-max", key.get("maximum"))
            shown = f"{limit:g}" if isinstance(limit, float) else str(limit or "")
            assert shown in described[name], f"{path}.{name}: its largest value is {shown}"


def test_a_complete_configuration_survives_the_round_trip() -> None:
    content = json.loads(_core.resolve(QUADRANT, file="quadrant.toml").effective_json())
    config = Config.from_dict(content)
    assert config.to_dict() == content
    assert config.core.lfb.entries == content["core"]["lfb"]["entries"]
    assert isinstance(config.workload["disk"], Fio)
    plan = _core.resolve(json.dumps(config.to_dict()), format="json")
    assert plan.hash == _core.resolve(QUADRANT).hash


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


def test_files_are_checked_when_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(QUADRANT.replace('name = "quadrant"\n', ""))
    assert Config.from_toml(file).run.name == "mine"
    assert Config.from_toml(file).base_dir == str(tmp_path)
    file.write_text(QUADRANT.replace("seed", "sead"))
    with pytest.raises(ConfigError, match=r'mine\.toml:6: run\.sead.*did you mean "seed"'):
        Config.from_toml(file)
    with pytest.raises(ConfigError):
        Config.from_dict({"core": {"count": -1}})


def test_descriptions_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Server().preset = "x"  # type: ignore[misc]
    assert isinstance(Config().workload, Mapping)
