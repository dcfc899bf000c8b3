"""`tarfile` with its extraction filters, which Python has had since 3.11.4 and Debian 12's doesn't have."""

import sys
import tarfile

if sys.version_info < (3, 11, 4):
    from backports import tarfile  # type: ignore[no-redef]

__all__ = ["tarfile"]
