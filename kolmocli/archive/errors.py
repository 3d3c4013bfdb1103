"""What can be wrong with an archive, or with what it would need."""

from __future__ import annotations

from kolmocli.errors import EnvironmentMissing, KolmoError


class ArchiveError(KolmoError):
    """The archive is damaged, truncated, or not an archive."""


class ArchiveLimitError(KolmoError):
    """The archive asks for more output or work than was allowed."""


class CodecMissing(EnvironmentMissing):
    """The archive was packed with a codec whose package is not installed."""
