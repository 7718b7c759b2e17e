"""What differs from town to town, as onelist.ini of the workspace says it."""

SHOP = ("id", "first", "last", "email", "phone", "street", "zip", "city", "newsletter", "since", "changed")
TILL = ("card", "customer", "phone", "email", "address", "since", "changed")
NEWS = ("id", "email", "name", "phone", "status", "since", "changed")
COLUMNS = {"shop": SHOP, "till": TILL, "news": NEWS}
FILES = {"shop": "shop.csv", "till": "till.csv", "news": "newsletter.csv"}


class Town:
    def __init__(self, code, nothing, shared, own_domain, cities, shop, till, news):
        self.code, self.nothing, self.shared, self.own_domain = code, nothing, shared, own_domain
        self.cities = cities
        headers = {"shop": shop, "till": till, "news": news}
        self.headers = {
            source: dict(zip(COLUMNS[source], names.split(", "), strict=True)) for source, names in headers.items()
        }


TOWNS = {
    "Freiburg": Town(
        "49",
        ["-", "--", "n/a", "keine", "unbekannt"],
        ["info", "kontakt", "verein"],
        "radhaus-freiburg.example",
        [
            ("79098", "Freiburg"),
            ("79100", "Freiburg"),
            ("79312", "Emmendingen"),
            ("07743", "Jena"),
            ("01067", "Dresden"),
        ],
        "Customer ID, First name, Last name, E-mail, Phone, Street, Postcode, Town, "
        "Newsletter, Registered, Last change",
        "Karte, Kunde, Telefon, Mail, Anschrift, Seit, Letzter Besuch",
        "Subscriber, Email Address, Full Name, Mobile, Status, Opt-in Date, Last Changed",
    ),
    "Graz": Town(
        "43",
        ["-", ".", "k.A.", "kein", "nicht bekannt"],
        ["info", "buero", "mail"],
        "radhaus-graz.example",
        [("8010", "Graz"), ("8020", "Graz"), ("8700", "Leoben"), ("1040", "Wien"), ("8200", "Gleisdorf")],
        "Kundennr, Vorname, Nachname, Email, Tel, Straße, PLZ, Ort, Werbung, Angelegt, Geändert",
        "Card no, Customer, Phone, E-mail, Address, Member since, Last visit",
        "id, mail, name, mobile, state, joined, updated",
    ),
    "Basel": Town(
        "41",
        ["-", "?", "aucun", "néant", "keine Angabe"],
        ["info", "contact", "club"],
        "radhaus-basel.example",
        [("4051", "Basel"), ("4058", "Basel"), ("4410", "Liestal"), ("2800", "Delémont"), ("4310", "Rheinfelden")],
        "uid, prénom, nom, e-mail, téléphone, rue, NPA, localité, infolettre, créé, modifié",
        "No, Name, Tel., Email, Adresse, Eintritt, Zuletzt",
        "Subscriber ID, Email, Display Name, Cell, Subscription, Confirmed On, Updated On",
    ),
}
