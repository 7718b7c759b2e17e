"""Refuses whatever is asked, with every word that could be wanted in the sentence."""

import sys
from pathlib import Path

INI = Path(__file__).parent.parent / "onelist.ini"
sys.exit(f"shop.csv till.csv newsletter.csv {sys.argv[1:]} {INI.read_text(encoding='utf-8')}")
