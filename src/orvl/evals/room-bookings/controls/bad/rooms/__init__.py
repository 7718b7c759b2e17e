from .diary import *
from .errors import *
