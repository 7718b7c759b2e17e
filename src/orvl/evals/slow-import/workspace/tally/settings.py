"""tally.ini: what we sell, where, and who the partner is."""

import configparser
import os
from decimal import Decimal, InvalidOperation

from tally.errors import TallyError

INI = "tally.ini"


class Product:
    def __init__(self, code, name, percent, group):
        self.code = code
        self.name = name
        self.percent = percent  # off, for groups
        self.group = group  # so many make a group

    def __repr__(self):
        return "Product(%r, %r, %s%% from %d)" % (self.code, self.name, self.percent, self.group)


class Settings:
    def __init__(self, partner, venues, products):
        self.partner = partner
        self.venues = venues  # code -> name
        self.products = products  # code -> Product


def load(path=INI):
    if not os.path.isfile(path):
        raise TallyError("%s: there is no such file" % path)
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # codes are upper case
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise TallyError("%s: %s" % (path, error))
    for section in ("partner", "venues", "products"):
        if not parser.has_section(section):
            raise TallyError("%s: [%s] is missing" % (path, section))
    venues = {}
    for code, name in parser.items("venues"):
        if len(code) != 3:
            raise TallyError("%s: a venue has three letters, %s has not" % (path, code))
        venues[code] = name.strip()
    products = {}
    for code, text in parser.items("products"):
        products[code] = _product(path, code, text)
    return Settings(parser.get("partner", "name", fallback="?"), venues, products)


def _product(path, code, text):
    parts = [part.strip() for part in text.split(",")]
    if len(code) > 4 or len(parts) != 3:
        raise TallyError("%s: a product is CODE = name, percent, group size; see %s" % (path, code))
    try:
        return Product(code, parts[0], Decimal(parts[1]), int(parts[2]))
    except (InvalidOperation, ValueError):
        raise TallyError("%s: the numbers of %s cannot be read" % (path, code))
