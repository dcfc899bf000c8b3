"""The licence of a release: an SPDX expression from its metadata or its licence's text, and its notice files."""

import json
import re
import tomllib
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from harness.specs.errors import UserError

_NOTICES = re.compile(r"(?i)(?:licen[cs]e|copying|notice|copyright|authors)(?:[.-].*)?")
_TEXTS = (
    (r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3", "AGPL-3.0-or-later"),
    (r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3", "LGPL-3.0-or-later"),
    (r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1", "LGPL-2.1-or-later"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 3", "GPL-3.0-or-later"),
    (r"GNU GENERAL PUBLIC LICENSE\s+Version 2", "GPL-2.0-or-later"),
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"Mozilla Public License,? (?:Version|version) 2\.0", "MPL-2.0"),
    (r"Permission to use, copy, modify, and/or distribute this software", "ISC"),
    (r"Permission is hereby granted, free of charge, to any person obtaining", "MIT"),
    (r"Redistribution and use in source and binary forms[\s\S]*(?:Neither|may not|endorse)[\s\S]*endorse",
     "BSD-3-Clause"),
    (r"Redistribution and use in source and binary forms", "BSD-2-Clause"),
)  # fmt: skip
_CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
}


def notices(tree: Path) -> tuple[str, ...]:
    """Return the licence and notice files at a tree's root, and those below LICENSES/."""
    at_root = [path.name for path in tree.iterdir() if path.is_file() and _NOTICES.fullmatch(path.name)]
    reuse = [path.relative_to(tree).as_posix() for path in (tree / "LICENSES").glob("*") if path.is_file()]
    return tuple(sorted([*at_root, *reuse]))


def licence_of(tree: Path, given: str) -> str:
    """Return the SPDX expression: `given`, else what the release says.

    Raises:
        UserError: Neither says it in SPDX's words.
    """
    if given:
        return _expression(given) or _refuse(f"--licence: {given!r} is no SPDX expression (MIT, GPL-3.0-or-later)")
    said = {found for words in (*_declared(tree),) if (found := _expression(words))}
    read = {found for name in notices(tree) if (found := _of_text((tree / name).read_text(errors="replace")))}
    for candidates in (said, read):
        if len(candidates) == 1:
            return candidates.pop()
        if candidates:
            break
    found = f"it says {' and '.join(sorted(said or read))}" if said or read else "neither metadata nor a text says it"
    return _refuse(f"the release's licence can't be told: {found}; name it with --licence EXPRESSION")


def _refuse(words: str) -> str:
    raise UserError(words)


def _expression(words: str) -> str:
    """Return a licence as SPDX writes it; empty for what isn't SPDX."""
    try:
        return str(canonicalize_license_expression(words.strip())) if words.strip() else ""
    except InvalidLicenseExpression:
        return ""


def _of_text(text: str) -> str:
    return next((name for pattern, name in _TEXTS if re.search(pattern, text)), "")


def _declared(tree: Path) -> Iterator[str]:
    """Yield what the metadata of Python's and npm's packages say."""
    if (info := tree / "PKG-INFO").is_file():
        message = Parser().parsestr(info.read_text(errors="replace"), headersonly=True)
        if expression := message.get("License-Expression"):
            yield expression
            return
        names = (line.rpartition(" :: ")[2] for line in message.get_all("Classifier", []) if "License ::" in line)
        known = [_CLASSIFIERS[name] for name in names if name in _CLASSIFIERS]
        yield from known or [message.get("License", "")]
    elif (project := tree / "pyproject.toml").is_file():
        licence = tomllib.loads(project.read_text()).get("project", {}).get("license", "")
        yield licence if isinstance(licence, str) else str(licence.get("text", ""))
    if (package := tree / "package.json").is_file():
        licence = json.loads(package.read_text()).get("license", "")
        yield licence if isinstance(licence, str) else ""
