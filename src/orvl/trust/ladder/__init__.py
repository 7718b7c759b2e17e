"""The ladder of controls: results of known quality, derived from an eval's good one, by which judges are judged."""

from orvl.trust.ladder.build import NAMES, ladder, write
from orvl.trust.ladder.trees import Control

__all__ = ["NAMES", "Control", "ladder", "write"]
