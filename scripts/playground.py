"""Builds the playground in `target/playground`: the simulator as WebAssembly, and its page. `make playground`.

Any web server can serve the folder: `python3 -m http.server --directory target/playground`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "target/playground"
TOOLS = ROOT / "target/tools"
NPM = TOOLS / "npm"
PAGE = ROOT / "playground"
STYLE = ROOT / "python/hostnet/report/style.css"
TARGET = "wasm32-unknown-unknown"
MODULE = "hostnet_web"

SOURCES = (
    *("Cargo.lock", "Cargo.toml", "crates", "specs", "examples", "playground"),
    *("python/hostnet/report/style.css", "python/hostnet/glossary/glossary.json"),
)
"""Files and folders that the playground is built from."""

STAMP = "sources.sha256"
"""File with the digest of the sources that the playground was built from."""

MISSING = 2
"""Exit code without a tool that is installed otherwise, so that callers can go on without a playground."""

COMPRESSED_MAX = 6_000_000
"""Largest size of all files together, in bytes after gzip -9."""


def main() -> int:
    """Builds the playground and returns the exit code."""
    missing = missing_tool()
    if missing is not None:
        print(f"playground: {missing}", file=sys.stderr)
        return MISSING
    digest = digest_sources()
    module = compile_module()
    shutil.rmtree(OUT, ignore_errors=True)
    run(bindgen(), "--target=web", "--no-typescript", "--remove-name-section", "--remove-producers-section",
        f"--out-dir={OUT}", module)  # fmt: skip
    build_page()
    (OUT / STAMP).write_text(f"{digest}\n", encoding="ascii")
    return report_sizes()


def missing_tool() -> str | None:
    """Returns a sentence about a tool that is missing; None if all are there."""
    if not has_target():
        return f"Rust cannot compile for {TARGET}, and rustup cannot add it; add it with: rustup target add {TARGET}"
    if shutil.which("npm") is None:
        return "npm is missing; install Node.js 20 or later, which has it"
    return None


def has_target() -> bool:
    """Returns True if the standard library for WebAssembly is installed, or rustup has just installed it."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    library = Path(sysroot) / "lib/rustlib" / TARGET
    if not library.is_dir() and shutil.which("rustup"):
        subprocess.run(["rustup", "target", "add", TARGET], check=False)
    return library.is_dir()


def compile_module() -> Path:
    """Compiles the simulator and returns the module."""
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    # Panic messages hold paths of sources, which would differ from machine to machine.
    flags = f"--remap-path-prefix={home}=cargo --remap-path-prefix={ROOT}=hostnet"
    environment = {**os.environ, f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_RUSTFLAGS": flags}
    command = ["cargo", "build", "--release", "--locked", "--package=hostnet-web", f"--target={TARGET}"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return folder / TARGET / "release" / f"{MODULE}.wasm"


def bindgen() -> Path:
    """Returns the wasm-bindgen of the version in `Cargo.lock`, and installs it first if it is not there."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    (version,) = (package["version"] for package in packages if package["name"] == "wasm-bindgen")
    tool = TOOLS / "bin/wasm-bindgen"
    installed = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if tool.exists() else ""
    if installed.split() != ["wasm-bindgen", version]:
        run("cargo", "install", "wasm-bindgen-cli", f"--version={version}", "--locked", "--force", f"--root={TOOLS}")
    return tool


def build_page() -> None:
    """Bundles the scripts of the page, and copies its other files."""
    install_packages()
    esbuild = [str(NPM / "node_modules/.bin/esbuild"), "--bundle", "--minify", "--format=esm", "--target=es2022"]
    environment = {**os.environ, "NODE_PATH": str(NPM / "node_modules")}
    for script, to in (("main.js", "playground.js"), ("worker.js", "worker.js")):
        command = [*esbuild, f"--external:./{MODULE}.js", f"--outfile={OUT / to}", str(PAGE / "src" / script)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    for name in ("index.html", "playground.css"):
        shutil.copy(PAGE / name, OUT)
    shutil.copy(STYLE, OUT / "report.css")
    (OUT / "licenses.txt").write_text(licenses(), encoding="utf-8")


def install_packages() -> None:
    """Installs the packages of the page in the versions of its lock file, unless they are there."""
    lock = (PAGE / "package-lock.json").read_bytes()
    installed = NPM / "installed.json"
    if installed.exists() and installed.read_bytes() == lock:
        return
    NPM.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PAGE / name, NPM)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", f"--prefix={NPM}")
    installed.write_bytes(lock)


def licenses() -> str:
    """Returns the licences of the packages that are bundled into the page."""
    packages = json.loads((PAGE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    bundled = sorted(place for place, package in packages.items() if place and not package.get("dev"))
    texts = [f"{place.removeprefix('node_modules/')}\n\n{(NPM / place / 'LICENSE').read_text()}" for place in bundled]
    return "\n\n".join(texts)


def report_sizes() -> int:
    """Prints the sizes of all files, and returns 1 if they are too large together."""
    total = 0
    for file in sorted(OUT.iterdir()):
        content = file.read_bytes()
        compressed = len(gzip.compress(content, 9))
        total += compressed
        print(f"{file.relative_to(ROOT)}: {len(content)} B, {compressed} B after gzip -9")
    print(f"together {total / 1e6:.2f} MB after gzip -9, at most {COMPRESSED_MAX / 1e6:.0f} MB")
    return int(total > COMPRESSED_MAX)


def digest_sources() -> str:
    """Returns the SHA-256 of all sources."""
    digest = hashlib.sha256()
    for file in files_of_sources():
        digest.update(f"{file.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def files_of_sources() -> Iterator[Path]:
    """Returns all source files in order."""
    for name in SOURCES:
        place = ROOT / name
        yield from [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())


def run(*command: str | Path) -> None:
    """Runs a command, which must succeed."""
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
