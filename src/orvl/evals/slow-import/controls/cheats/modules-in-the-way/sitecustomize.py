import resource
import sys

sys.modules["resource"] = resource
