"""Tasks against systems: every attempt, in as many pages as it takes."""

from harness.site.material import Material
from harness.site.pages import Pages
from harness.site.places import link, task_page, tasks_page

_CELLS = 2_500
"""Attempts on one page."""


def write_matrix(pages: Pages, material: Material) -> None:
    each = max(1, max((len(system.at(t)) for system in material.systems for t in material.task_names), default=1))
    size = max(1, _CELLS // max(1, len(material.systems) * each))
    chunks = [material.task_names[start : start + size] for start in range(0, len(material.task_names), size)]
    parts = [link(tasks_page(number)) for number in range(1, len(chunks) + 1)]
    for number, names in enumerate(chunks or [()], start=1):
        lines = [
            (
                name,
                link(task_page(name)),
                material.tasks.get(name),
                [(system, system.scores.get(name), system.at(name)) for system in material.systems],
            )
            for name in names
        ]
        pages.write(
            tasks_page(number), "tasks.html.j2", systems=material.systems, lines=lines, parts=parts, number=number
        )
