import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_the_schemas_in_docs_are_those_of_the_models():
    done = subprocess.run(
        [sys.executable, "scripts/schemas.py", "--check"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
