"""The family of `stories.py`, registered as a plugin does it."""

import kolmocli as kolmo
from tests.integrations.stories import LEVELS, story

kolmo.family("stories", levels=LEVELS, language="text")(story)
