"""The validator: says in one line each what is wrong with a design, or how many cases it has."""

import json
import sys
import zipfile
from pathlib import Path

import reading

_USUAL = ("design/cases.yaml", "design/cases.feature")


def main(arguments):
    found = arguments or [name for name in _USUAL if Path(name).is_file()]
    if len(found) != 1:
        print(f"usage: python3 validate.pyz [{' or '.join(_USUAL)}]; hand in one of them", file=sys.stderr)
        return 2
    with zipfile.ZipFile(sys.argv[0]) as archive:
        vocabulary = json.loads(archive.read("vocabulary.json"))
    try:
        data = Path(found[0]).read_bytes()
    except OSError as error:
        print(f"{found[0]}: {error.strerror}", file=sys.stderr)
        return 2
    cases, faults = reading.read_cases(data, found[0], vocabulary)
    for fault in faults:
        print(f"{found[0]}:{fault.line or 1}: {fault.words}")
    if not faults:
        print(f"{found[0]}: {len(cases)} of at most {reading.MAX_CASES} cases, all readable")
        print("- file: " + found[0] + "\n  tests: [" + ", ".join(case["id"] for case in cases) + "]")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
