"""The tags of an engine's images, asked for in one call: others may remove images meanwhile."""

import docker


def tags_of_all(client: docker.DockerClient, name: str | None = None) -> list[str]:
    """`name` is a repository or a pattern of some."""
    return [tag for image in client.api.images(name) for tag in image["RepoTags"] or ()]
