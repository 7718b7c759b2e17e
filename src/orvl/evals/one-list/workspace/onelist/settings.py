"""What onelist.ini says."""

from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent.parent / "onelist.ini"


@dataclass(frozen=True)
class Settings:
    country_code: str
    nothing: frozenset[str]
    """In lower case."""
    shared: frozenset[str]
    own_domain: str
    headers: dict[str, dict[str, str]]
    """What a column is called, by export and by our name for it: headers["till"]["card"]."""


def load(path: Path = FILE) -> Settings:
    parser = ConfigParser(interpolation=None)
    with open(path, encoding="utf-8") as file:
        parser.read_file(file)
    list_ = parser["list"]
    return Settings(
        country_code=list_["country_code"],
        nothing=words(list_["nothing"]),
        shared=words(list_["shared"]),
        own_domain=list_["own_domain"].lower(),
        headers={name: dict(parser[name]) for name in ("shop", "till", "newsletter")},
    )


def words(text: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in text.split(","))
