"""A registry of one image that a Docker engine can pull from, over HTTP on loopback.

It needs nothing but Python, since it runs in the network of an engine of a test's own:

    python tests/support/tiny_registry.py NAME PORT FILE_OF_ONE_LAYER
"""

import fcntl
import hashlib
import http.server
import json
import socket
import struct
import sys
from pathlib import Path

_SET_FLAGS, _UP = 0x8914, 0x41
_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG, _LAYER = "application/vnd.docker.container.image.v1+json", "application/vnd.docker.image.rootfs.diff.tar"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def serve(name: str, port: int, layer: bytes) -> None:
    rootfs = {"type": "layers", "diff_ids": [digest(layer)]}
    facts = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["none"]}, "rootfs": rootfs}
    config = json.dumps(facts).encode()
    above, below = (
        {"mediaType": kind, "size": len(data), "digest": digest(data)}
        for kind, data in ((_CONFIG, config), (_LAYER, layer))
    )
    manifest = json.dumps({"schemaVersion": 2, "mediaType": _TYPE, "config": above, "layers": [below]}).encode()
    blobs = {digest(data): data for data in (config, layer)}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what = self.path.removeprefix(f"/v2/{name}/")
            if self.path == "/v2/":
                self.answer(b"{}", "application/json")
            elif what.startswith("manifests/"):
                self.answer(manifest, _TYPE)
            elif what.removeprefix("blobs/") in blobs:
                self.answer(blobs[what.removeprefix("blobs/")], "application/octet-stream")
            else:
                self.send_error(404)

        do_HEAD = do_GET

        def answer(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Docker-Content-Digest", digest(data))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # a new network has its loopback down
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", _UP))
    serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]).read_bytes())
