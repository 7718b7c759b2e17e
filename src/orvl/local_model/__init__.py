"""A small model on this machine that answers without a key: real inference, in a process of its own.

It stands behind an HTTP server on loopback that speaks chat completions, so that it is asked like any other provider.
"""

from orvl.local_model.server import LocalModel
from orvl.local_model.weights import find_weights, weights_of

__all__ = ["LocalModel", "find_weights", "weights_of"]
