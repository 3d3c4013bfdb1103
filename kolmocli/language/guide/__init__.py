"""A guide for the search: it has learned how sequences are interleaved. `kolmo solve --model guide`."""

from kolmocli.language.guide.network import NetworkGuide, shipped_guide

__all__ = ["NetworkGuide", "shipped_guide"]
