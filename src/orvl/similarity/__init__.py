"""How alike two programs are, by program: structure and purpose, without a model."""

from orvl.similarity.alike import Similarity
from orvl.similarity.projects import compare

__all__ = ["Similarity", "compare"]
