"""The image map for tests/fixtures/swe_atlas: .venv/bin/python -m scripts.swe_atlas_images > images.yaml

Each task's repository stands for one of ours; its image, which has upstream's whole tree, is built if it isn't there.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from harness.plugins.published.layout import DESCRIPTION, read_description
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures" / "swe_atlas"


async def image_map(tasks: Iterable[Path]) -> str:
    """YAML lines `REPOSITORY@COMMIT: TAG`. Raises UserError for a repository that the catalog hasn't."""
    catalog = Catalog()
    repos = {(repo := catalog.repo(name)).upstream: repo for name in catalog.names("repos")}
    lines = []
    for task in tasks:
        metadata = read_description(task / DESCRIPTION)[0].metadata
        if metadata.repository not in repos:
            raise UserError(f"{task / DESCRIPTION}: no repository of the catalog is {metadata.repository}")
        image = await repo_image(repos[metadata.repository])
        lines.append(f"{metadata.repository}@{metadata.base_commit}: {image.reference}\n")
    return "".join(lines)


if __name__ == "__main__":
    print(asyncio.run(image_map(sorted(path.parent for path in FIXTURES.glob(f"*/{DESCRIPTION}")))), end="")
