"""The image that every repo's Dockerfile starts from."""

from harness.sandbox.cache import locked
from harness.sandbox.images.build_cli import client_environment, installed_build_cli
from harness.sandbox.images.engine_images import EngineImages
from harness.sandbox.images.logged import run_logged
from harness.sandbox.images.recipe import base_recipe

BASE_IMAGE = "debian:bookworm-slim"


async def ensure_base_image(images: EngineImages) -> str:
    """Its tag, with the image in the engine: it was there, or is pulled, or made from Debian's packages.

    Raises ImageUnavailable.
    """
    async with locked("base-image"):
        if await images.find(BASE_IMAGE) is None:
            cli = await installed_build_cli()
            # Through bash: an unpacked wheel need not have kept the executable bit.
            environment = {**client_environment(), "DOCKER": str(cli.path)}
            await run_logged(["bash", str(base_recipe()), BASE_IMAGE], environment, BASE_IMAGE)
    return BASE_IMAGE
