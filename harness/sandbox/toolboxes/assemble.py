"""Runs while a toolbox is made, in a Debian image: puts together what a scaffold needs, for containers of any system.

usage: assemble.py PROGRAMS FETCHED TOOLBOX

PROGRAMS is a JSON object: name -> glob below FETCHED; TOOLBOX/bin gets a link of that name to the one match. FETCHED
has `node_modules` of npm or `packages` of pip, or isn't there. TOOLBOX gets a Python in any case.

Programs of glibc find their loader and libraries in TOOLBOX/lib, whatever libraries the container has or lacks, and
without a variable that their children would inherit: the path of the loader is written into each program, and the
loader's own search path into the loader. Both are overwritten in place, so nothing in a file moves.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
LIBRARIES = (
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libresolv.so.2",
    "libnss_files.so.2", "libnss_dns.so.2", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "libexpat.so.1",
)  # fmt: skip
NOT_OF_PYTHON = ("test", "idlelib", "ensurepip", "lib2to3", "turtledemo", "pydoc_data", "__pycache__", "config-*")
_INTERPRETER = 3
_ELF64_LITTLE = b"\x7fELF\x02\x01"


def main(programs: Path, fetched: Path, toolbox: Path) -> None:
    """Put a toolbox together."""
    machine = os.uname().machine
    (toolbox / "bin").mkdir(parents=True)
    (toolbox / "lib").mkdir()
    copy_python(toolbox)
    copy_packages(fetched, toolbox)
    copy_libraries(machine, toolbox)
    loader = toolbox / "lib" / "ld.so"
    shutil.copy(LOADERS[machine], loader)
    redirect_loader(loader, f"/{TRIPLETS[machine]}/")
    for path in files(toolbox):
        redirect_program(path, LOADERS[machine], str(loader))
    link_programs(json.loads(programs.read_text()), toolbox)
    subprocess.run(["chmod", "-R", "a+rX,go-w", toolbox], check=True)
    write_hashes(toolbox)


def copy_python(toolbox: Path) -> None:
    """Copy a Python that runs in any system."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copy(Path("/usr/bin", name).resolve(), toolbox / "bin" / "python3")
    ignored = shutil.ignore_patterns(*NOT_OF_PYTHON)
    shutil.copytree(Path("/usr/lib", name), toolbox / "lib" / name, symlinks=False, ignore=ignored,
                    ignore_dangling_symlinks=True)  # fmt: skip


def copy_packages(fetched: Path, toolbox: Path) -> None:
    """Copy the packages that were fetched."""
    if (fetched / "node_modules").is_dir():
        shutil.copytree(fetched / "node_modules", toolbox / "node_modules", symlinks=True)
    if (fetched / "packages").is_dir():  # where Debian's Python looks
        shutil.copytree(fetched / "packages", toolbox / "lib" / "python3" / "dist-packages", symlinks=True)


def copy_libraries(machine: str, toolbox: Path) -> None:
    """Copy the libraries named above, and those that Python's own modules are linked to."""
    places = [Path("/lib", TRIPLETS[machine]), Path("/usr/lib", TRIPLETS[machine])]
    wanted = {str(path) for name in LIBRARIES for path in [place / name for place in places] if path.exists()}
    modules = [toolbox / "bin" / "python3", *toolbox.glob("lib/python3.*/lib-dynload/*.so")]
    told = subprocess.run(["ldd", *modules], capture_output=True, text=True, check=True).stdout
    wanted |= {words[2] for line in told.splitlines() if len(words := line.split()) > 2 and words[1] == "=>"}
    for path in sorted(wanted):
        shutil.copy(path, toolbox / "lib" / Path(path).name)


def redirect_loader(loader: Path, triplet: str) -> None:
    """Have the loader look in its own directory and nowhere else: neither in the container's nor in its cache."""
    data = loader.read_bytes()
    old = f"/lib{triplet}\0/usr/lib{triplet}\0/lib/\0/usr/lib/\0".encode()
    own = f"{loader.parent}/"
    new = b"".join(
        text.encode() + b"\0"
        for text in (
            own.ljust(len(f"/lib{triplet}"), "/"),
            own.ljust(len(f"/usr/lib{triplet}"), "/"),
            "/nul/",
            "/null/lib",
        )
    )
    if old not in data or len(new) != len(old):
        sys.exit("error: this system's loader has another search path")
    for name in (b"/etc/ld.so.cache\0", b"/etc/ld.so.preload\0"):
        data = data.replace(name, b"/dev/null/".ljust(len(name) - 1, b"x") + b"\0")
    loader.write_bytes(data.replace(old, new))
    loader.chmod(0o755)


def redirect_program(path: Path, old: str, new: str) -> None:
    """Have a program be started by our loader, where it is one of glibc that needs any; whatever it is, let it run.

    Packages bring programs along without the right to run them, and chmod them when they are first used: a toolbox is
    read-only by then.
    """
    with path.open("r+b") as file:
        head = file.read(64)
        if not head.startswith(_ELF64_LITTLE):
            return
        path.chmod(0o755)
        offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
        for at in range(0, len(table), size):
            kind, _, place, _, _, length = struct.unpack_from("<IIQQQQ", table, at)
            if kind != _INTERPRETER:
                continue
            file.seek(place)
            if file.read(length).rstrip(b"\0") == old.encode():
                if len(new) >= length:
                    sys.exit(f"error: {new} is longer than {old}")
                file.seek(place)
                file.write(new.encode().ljust(length, b"\0"))


def link_programs(programs: dict[str, str], toolbox: Path) -> None:
    """Link programs by their names."""
    for name, pattern in programs.items():
        found = sorted(toolbox.glob(pattern))
        if len(found) != 1:
            sys.exit(f"error: program {name}: {pattern} is {len(found)} files of what was installed, not one")
        found[0].chmod(0o755)
        (toolbox / "bin" / name).symlink_to(os.path.relpath(found[0], toolbox / "bin"))


def write_hashes(toolbox: Path) -> None:
    """In the form of sha256sum."""
    lines = []
    for path in sorted(files(toolbox)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(toolbox)}\n")
    (toolbox / "SHA256SUMS").write_text("".join(lines))


def files(toolbox: Path) -> Iterator[Path]:
    """Yield the files of a toolbox."""
    return (path for path in toolbox.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
