"""How alike two programs are in structure and purpose, without a model."""

from orvl.score.similarity.alike import Similarity
from orvl.score.similarity.projects import compare

__all__ = ["Similarity", "compare"]
