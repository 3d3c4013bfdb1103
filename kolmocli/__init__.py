"""kolmo: train a language model by REINFORCE to write the shortest program that reproduces a sequence."""

__version__ = "0.1.0"
