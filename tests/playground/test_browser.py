"""The page of the playground in a browser: runs, mistakes, links, sliders, themes and widths; all from its server."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hostnet import glossary
from scripts import playground
from tests.playground.conftest import native
from tests.report.browser import NAMES, find_browser
from tests.support import HANG_S

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        find_browser() is None, reason=f"no browser: none of {', '.join(NAMES)} is on PATH; make browser"
    ),
]

Seen = dict[str, Any]
Drive = Callable[[str], Seen]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: Any) -> None:
        """Writes nothing."""


@pytest.fixture(scope="session")
def address(module: Path) -> Iterator[str]:
    """Serves the playground on loopback and returns its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(module))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def drive(address: str, tmp_path_factory: pytest.TempPathFactory) -> Drive:
    """Returns a function that plays a scenario, and checks that the page requests nothing from elsewhere."""
    script = str(Path(__file__).with_name("browser.mjs"))
    folder = tmp_path_factory.mktemp("screenshots")

    def play(scenario: str) -> Seen:
        command = ["node", script, str(playground.NPM), str(find_browser()), address, str(folder), scenario]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, done.stderr
        seen: Seen = json.loads(done.stdout)
        assert {urlsplit(url).netloc for url in seen["requested"] if not url.startswith(("blob:", "data:"))} == {
            urlsplit(address).netloc
        }
        assert seen["mistakes"] == []
        return seen

    return play


def text_of(fragment: str) -> str:
    """Returns the configuration that a link holds."""
    version, _, data = fragment.removeprefix("#").partition(".")
    assert version == "1"
    packed = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    return str(json.loads(zlib.decompress(packed))["text"])


def assert_native(found: dict[str, str]) -> None:
    assert found == {name: native(name)[0] for name in found}


def test_examples_of_each_kind_have_the_hashes_of_native_runs(drive: Drive) -> None:
    assert_native(drive("quick")["found"])


def test_every_example_has_the_hash_of_a_native_run(drive: Drive) -> None:
    seen = drive("every")
    assert set(seen["found"]) == set(seen["offered"])
    assert_native(seen["found"])


def test_a_wrong_key_is_marked_at_its_place_and_corrected(drive: Drive) -> None:
    seen = drive("mistake")
    assert seen["problem"].startswith("quadrant3.toml:2:1 server.prest: ")
    assert "unknown-key" in seen["problem"]
    assert seen["disabled"]
    assert seen["marked"] == "prest"
    assert 'preset = "cascade-lake-6234"' in text_of(seen["fragment"])


def test_a_run_is_cancelled_while_it_runs_and_while_it_is_prepared(drive: Drive) -> None:
    seen = drive("cancel")
    assert seen["predicted"]
    assert seen["stopped"].startswith("Stopped after")
    assert seen["after"] == native("stream.toml")[0]


def test_a_link_holds_the_configuration_and_a_wrong_one_says_what_to_do(drive: Drive) -> None:
    seen = drive("link")
    assert seen["again"] == seen["fragment"]
    assert text_of(seen["fragment"]).startswith("# größer\n[server]")
    damaged, changed, newer = seen["notices"]
    assert damaged == changed
    assert "Copy the whole link again" in damaged
    assert re.search(r"newer version.*format is 2", newer)
    assert seen["shown"] == ["quadrant3.toml"] * 2


def test_a_text_of_10_mb_is_refused_and_the_old_one_kept(drive: Drive) -> None:
    seen = drive("large")
    assert "10.0 MB" in seen["notice"]
    assert "at most 1 MiB" in seen["notice"]
    assert seen["kept"]


def test_sliders_change_the_text_and_the_prediction_follows(drive: Drive) -> None:
    seen = drive("sliders")
    cores, reads, drives, channels, caches = map(text_of, seen["seen"])
    assert 'cores = "0-4"' in cores
    assert "reads = 1" in reads
    assert re.search(r'jobs = \[\{.*ssd = "0".*\}\]', drives)
    assert "quadrant.fio" not in drives
    assert "channels = 3" in channels
    assert re.search(r"\[cache\]\nenabled = true", caches)
    assert re.search(r"\[ddio\]\nenabled = false", caches)
    assert all(text.startswith("# Cores that store beside drives") for text in (cores, caches))
    assert seen["helps"]
    name, definition = seen["term"]
    assert any(term.name == name and term.definition.startswith(definition) for term in glossary.all_terms())
    assert "caches" in seen["state"]


def test_the_keyboard_reaches_everything_and_completes_keys(drive: Drive) -> None:
    seen = drive("keyboard")
    order = ["example", "control-preset", "control-cores", "control-caches", "run", "share", "save", "cm-content"]
    assert [name for name in seen["visited"] if name in order] == order
    assert "memory" in seen["labels"]
    assert seen["undone"]
    assert seen["left"] != "cm-content"


def test_pages_fit_wide_and_narrow_screens_in_both_themes(drive: Drive) -> None:
    seen = drive("looks")["seen"]
    assert len(seen) == 8
    assert [look for look in seen if look["needed"] > look["shown"]] == []
    assert [look["mistakes"] for look in seen if look["mistakes"]] == []
    assert {(look["colorScheme"], look["paper"]) for look in seen} == {
        ("light", "rgb(247, 247, 244)"),
        ("dark", "rgb(18, 21, 23)"),
    }
