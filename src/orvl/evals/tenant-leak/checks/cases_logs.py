"""The log of headers: all requests, all headers, and nothing that opens a door."""

import base64
import hashlib
import hmac
import json
import time

from orvl import checks

from served import Hopeless, Somebody, Wrong, expect

FLAG = "--log-headers"
PATIENCE, AFTERWARDS = 5.0, 0.2
"""Seconds until a line stands in the log; less once one was missing."""


class Log:
    """What was logged, by the `X-Till` that each request has."""

    def __init__(self, scene):
        self.scene = scene
        self.path = f"logs/{scene.drawn['log']}.log"
        self.patience = getattr(scene, "log_patience", PATIENCE)

    def entries(self):
        found = []
        for line in self.scene.server.file(self.path).splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise Wrong(f"{self.path}: expected one JSON object a line, saw {line[:200]!r}") from None
            if not isinstance(row, dict):
                raise Wrong(f"{self.path}: expected JSON objects, saw {line[:200]!r}")
            found.append(row)
        return found

    def entry(self, till):
        """The one of a request, with the names of its headers in small letters."""
        until = time.monotonic() + self.patience
        while not (found := [row for row in self.entries() if headers_of(row).get("x-till") == till]):
            if time.monotonic() > until:
                self.scene.log_patience = AFTERWARDS
                break
            time.sleep(0.02)
        if len(found) != 1:
            raise Wrong(f"{self.path}: expected one line with the X-Till {till}, saw {len(found)}")
        return found[0]

    def everywhere(self):
        """All that the server has written into logs, by file."""
        folder = f"{self.scene.server.folder}/"
        paths = [path for path in checks.files() if path.startswith(f"{folder}logs/")]
        return {path: (checks.read(path) or b"").decode("utf-8", "replace") for path in paths}


def headers_of(row):
    headers = row.get("headers")
    if isinstance(headers, list):
        headers = {pair[0]: pair[1] for pair in headers if isinstance(pair, list) and len(pair) == 2}
    if not isinstance(headers, dict):
        return {}
    return {str(name).lower(): value for name, value in headers.items()}


def _till(scene):
    return "till-" + scene.shops[0].word()


def _logged(scene, who, method, path, status, headers=(), shown=None, **more):
    """A request without secrets (apart from who asks): its line has all that was sent."""
    till = _till(scene)
    sent = [("X-Till", till), ("User-Agent", f"Till/{scene.random.randrange(99)}.{scene.random.randrange(99)}"), *headers]
    answer = who.ask(method, path, headers=sent, **more)
    expect(f"{method} {path}", status, answer.status)
    row = Log(scene).entry(till)
    expect("method", method, row.get("method"))
    expect("status", str(status), str(row.get("status")))
    expect("path", shown or path, row.get("path"))
    if not row.get("at"):
        raise Wrong(f"{method} {path}: expected the time as at, saw {row}")
    seen = headers_of(row)
    for name, value in sent:
        expect(f"the header {name}", value, seen.get(name.lower()))
    return seen


# -- all of it


def pages_of_people(scene):
    shop = scene.random.choice(scene.shops)
    seen = _logged(scene, scene.owner(shop), "GET", "/customers", 200, [("Accept-Language", "de-AT,de;q=0.7")])
    expect("a cookie's name is there", True, "cookie" in seen)


def queries(scene):
    shop = scene.random.choice(scene.shops)
    month = f"2031-0{scene.random.randrange(1, 9)}"
    _logged(scene, scene.mechanic(shop), "GET", f"/dashboard.json?month={month}&from={shop.word()}", 200)


def programs(scene):
    shop = scene.random.choice(scene.shops)
    headers = [("X-Request-Id", shop.word()), ("Accept", "application/json")]
    seen = _logged(scene, scene.program(shop), "GET", "/api/v2/jobs?status=open", 200, headers)
    expect("authorization is there", True, "authorization" in seen)


def changes(scene):
    shop = scene.random.choice(scene.shops)
    job = shop.take("job")
    headers = [("X-Forwarded-For", f"10.1.{scene.random.randrange(255)}.7")]
    _logged(scene, scene.program(shop), "PATCH", f"/api/v2/jobs/{job['id']}", 200, headers, data={"status": "done"})
    expect("status", "done", scene.job(shop, job)["status"])


def refusals(scene):
    _logged(scene, scene.nobody(), "GET", f"/api/v2/jobs/{scene.world.new_id()}", 401, [("Accept", "*/*")])


def unknown(scene):
    shop = scene.random.choice(scene.shops)
    _logged(scene, scene.program(shop), "GET", f"/api/v2/invoices/{scene.world.new_id()}", 404, [("Referer", "http://till.local/start")])


def redirects(scene):
    _logged(scene, scene.nobody(), "GET", "/jobs?status=open", 303, [("Accept", "text/html")])


def health(scene):
    _logged(scene, scene.nobody(), "GET", "/health", 200, [("X-Forwarded-Proto", "https"), ("Cache-Control", "no-cache")])


def tills(scene):
    shop = scene.random.choice(scene.shops)
    seen = _logged(scene, scene.till(shop), "GET", "/api/v1/kunden", 200, [("X-Drawer", shop.word())])
    expect("x-api-key is there", True, "x-api-key" in seen)


def only_if_asked_for(scene):
    """Without the flag nothing is logged; with it, all goes on."""
    server, log = scene.server, Log(scene)
    shop = scene.random.choice(scene.shops)
    _logged(scene, scene.program(shop), "GET", "/api/v2/parts", 200)
    server.stop()
    server.start()
    till = _till(scene)
    scene.program(shop).fine("GET", "/api/v2/parts", headers=[("X-Till", till)])
    if any(till in text for text in log.everywhere().values()):
        raise Wrong(f"expected no headers in logs without {FLAG}")


HEADERS = (
    *(pages_of_people, queries, programs, changes, refusals, unknown, redirects, health, tills),
    only_if_asked_for,
)


# -- and nothing that opens a door


def _silent(make, name):
    """A request with a secret: it is logged, the header that has it by its name, and the secret is nowhere."""

    def case(scene):
        shop = scene.random.choice(scene.shops)
        method, path, headers, secrets, more = make(scene, shop)
        till, agent = _till(scene), f"Till/{scene.random.randrange(10**6)}"
        who = Somebody(scene.server, "somebody", [("X-Till", till), ("User-Agent", agent)])
        answer = who.ask(method, path, headers=headers, **more)
        if answer.status >= 500:
            raise Wrong(f"{method} {path}: {answer}")
        row = Log(scene).entry(till)
        seen = headers_of(row)
        expect("the user agent", agent, seen.get("user-agent"))
        begins = path.partition("?")[0].rpartition("/")[0]
        if not str(row.get("path")).startswith(begins or "/"):
            raise Wrong(f"{method} {path}: expected a path that begins with {begins}, saw {row.get('path')!r}")
        missing = [name for name, _ in headers if name.lower() not in seen]
        expect("headers that are missing", [], missing)
        for file, text in Log(scene).everywhere().items():
            for secret in secrets:
                if secret in text:
                    raise Wrong(f"{method} {path.partition('?')[0]} with {[one for one, _ in headers]}: a secret is in {file}")

    case.__name__ = name
    return case


def _session(scene, shop):
    cookie = dict(scene.new_session(shop.mechanic).headers)["Cookie"]
    return "GET", "/jobs", [("Cookie", f"theme=dark; {cookie}")], [cookie.partition("=")[2]], {}


def _bearer(scene, shop):
    return "GET", "/api/v2/customers", [("Authorization", f"Bearer {shop.token}")], [shop.token[4:]], {}


def _bearer_mistyped(scene, shop):
    """All but a letter of it is right."""
    typed = shop.token[:-1] + "!"
    return "GET", "/api/v2/customers", [("authorization", f"bearer  {typed}")], [shop.token[4:-1]], {}


def _basic(scene, shop):
    password = scene.world.secret()
    words = base64.b64encode(f"{shop.owner['email']}:{password}".encode()).decode()
    return "GET", "/api/v2/jobs", [("Authorization", f"Basic {words}")], [words, password], {}


def _old_key(scene, shop):
    return "GET", "/api/v1/kunden", [("X-Api-Key", shop.token)], [shop.token[4:]], {}


def _old_key_in_address(scene, shop):
    return "GET", f"/api/v1/kunden?key={shop.token}&from=2", [("Accept", "*/*")], [shop.token[4:]], {}


def _signature(scene, shop):
    invoice = shop.take("invoice")
    body = json.dumps({"event": shop.word(), "invoice": invoice["number"]}).encode()
    signed = hmac.new(shop.row["payment_secret"].encode(), body, hashlib.sha256).hexdigest()
    path = f"/hooks/payments/{shop.row['slug']}"
    return "POST", path, [("X-Signature", signed)], [signed, shop.row["payment_secret"]], {"body": body}


def _link(scene, shop):
    token = scene.world.secret()
    return "GET", f"/reset?token={token}", [("Accept", "text/html")], [token], {}


def _link_before(scene, shop):
    """Browsers tell where they come from."""
    token = scene.world.secret()
    return "GET", "/login", [("Referer", f"http://127.0.0.1/reset?token={token}")], [token], {}


def _share(scene, shop):
    token = scene.random.choice(shop.jobs)["share"]
    return "GET", f"/status/{token}", [("Accept", "text/html")], [token], {}


def _share_before(scene, shop):
    token = scene.random.choice(shop.jobs)["share"]
    return "GET", "/health", [("Referer", f"https://gearbook.example/status/{token}")], [token], {}


def _address_from_proxy(scene, shop):
    headers = [("X-Original-Uri", f"/api/v1/kunden?from=3&key={shop.token}"), ("X-Api-Key", shop.token)]
    return "GET", "/api/v1/kunden", headers, [shop.token[4:]], {}


def _proxy(scene, shop):
    secret = scene.world.secret()
    return "GET", "/health", [("Proxy-Authorization", f"Bearer {secret}")], [secret], {}


def nothing_on_the_screen(scene):
    """What all these requests had is not in what the server printed either."""
    shop = scene.random.choice(scene.shops)
    till = _till(scene)
    scene.till(shop).fine("GET", "/api/v1/kunden", headers=[("X-Till", till)])
    Log(scene).entry(till)
    scene.server.stop()
    printed = scene.server.output.decode("utf-8", "replace")
    secrets = [shop.token[4:] for shop in scene.shops] + [job["share"] for shop in scene.shops for job in shop.jobs]
    if any(secret in printed for secret in secrets):
        raise Wrong("a secret was printed by the server")
    for shop in scene.shops:
        ended = checks.run("python3", "manage.py", "--data", scene.server.folder, "audit", shop.row["slug"])
        if ended.status != 0 or any(secret in ended.stdout for secret in secrets):
            raise Wrong(f"manage.py audit {shop.row['slug']}: expected it without secrets, saw {ended!r}")
    scene.server.start(FLAG)


SECRETS = (
    *(
        _silent(make, make.__name__[1:])
        for make in (
            *(_session, _bearer, _bearer_mistyped, _basic, _old_key, _old_key_in_address, _signature, _link),
            *(_link_before, _share, _share_before, _address_from_proxy, _proxy),
        )
    ),
    nothing_on_the_screen,
)

__all__ = ["FLAG", "HEADERS", "SECRETS", "Hopeless"]
