"""The application: blueprints, hooks, and the way from a WSGI environ to an answer."""

import traceback

from pinion.errors import HTTPError
from pinion.request import Request
from pinion.response import Response, json_response
from pinion.routing import Rule, Table


class Blueprint:
    """Routes under a common prefix. `public` is for what works without a login; the application looks at it."""

    def __init__(self, name, prefix="", public=False):
        self.name = name
        self.prefix = prefix
        self.public = public
        self.rules = []

    def route(self, pattern, methods=("GET",)):
        def register(handler):
            self.rules.append(Rule(self.prefix + pattern, methods, handler, f"{self.name}.{handler.__name__}"))
            return handler

        return register

    def get(self, pattern):
        return self.route(pattern, ("GET",))

    def post(self, pattern):
        return self.route(pattern, ("POST",))

    def put(self, pattern):
        return self.route(pattern, ("PUT",))

    def patch(self, pattern):
        return self.route(pattern, ("PATCH",))

    def delete(self, pattern):
        return self.route(pattern, ("DELETE",))


class App:
    """Hooks: `before` may answer instead of the handler, `after` sees request and response, `finally_` always runs."""

    def __init__(self):
        self.table = Table()
        self.blueprints = {}
        self._owner = {}
        self._before = []
        self._after = []
        self._finally = []
        self.error_page = None
        self.log_crash = None

    def register(self, blueprint):
        if blueprint.name in self.blueprints:
            raise ValueError(f"there are two blueprints called {blueprint.name}")
        self.blueprints[blueprint.name] = blueprint
        for rule in blueprint.rules:
            self.table.add(rule)
            self._owner[rule] = blueprint

    def before(self, hook):
        self._before.append(hook)
        return hook

    def after(self, hook):
        self._after.append(hook)
        return hook

    def finally_(self, hook):
        self._finally.append(hook)
        return hook

    def blueprint_of(self, rule):
        return self._owner.get(rule)

    def __call__(self, environ, start_response):
        request = Request(environ)
        try:
            response = self._answer(request)
        finally:
            for hook in self._finally:
                hook(request)
        return response(environ, start_response)

    def _answer(self, request):
        try:
            response = self._handled(request)
        except HTTPError as error:
            response = self._error(request, error)
        except Exception:
            if self.log_crash:
                self.log_crash(request, traceback.format_exc())
            response = self._error(request, HTTPError(500))
        for hook in self._after:
            response = hook(request, response) or response
        return response

    def _handled(self, request):
        rule, values, allowed = self.table.find(request.method, request.path)
        request.rule, request.values = rule, values
        for hook in self._before:
            early = hook(request)
            if early is not None:
                return early
        if rule is None:
            raise HTTPError(405 if allowed else 404)
        return _as_response(rule.handler(request, **values))

    def _error(self, request, error):
        if request.wants_json:
            return json_response({"error": error.message}, error.status)
        if self.error_page:
            return self.error_page(request, error)
        return Response(error.message, error.status, "text/plain; charset=utf-8")


def _as_response(made):
    """Handlers may return a Response, a text (HTML), or anything for JSON."""
    if isinstance(made, Response):
        return made
    if isinstance(made, str):
        return Response(made)
    if isinstance(made, tuple):
        data, status = made
        return json_response(data, status)
    return json_response(made)
