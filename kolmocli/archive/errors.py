"""Errors of archives: damaged ones, and those that need something missing."""

from __future__ import annotations

from kolmocli.errors import EnvironmentMissing, KolmoError


class ArchiveError(KolmoError):
    """The archive is damaged, truncated, or not an archive."""


class ArchiveLimitError(KolmoError):
    """The archive asks for more output or work than was allowed."""


class CodecMissing(EnvironmentMissing):
    """The archive was packed with a codec whose package is not installed."""
