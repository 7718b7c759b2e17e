"""A small model on this machine that answers without a key: real inference, in a process of its own."""

from orvl.local_model.server import LocalModel
from orvl.local_model.weights import find_weights, weights_of

__all__ = ["LocalModel", "find_weights", "weights_of"]
