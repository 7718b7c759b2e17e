"""Puts the application together: `make_app(config)`."""

from pathlib import Path

from pinion import App
from pinion.templates import Templates

from gearbook import gate, money
from gearbook.db import connect
from gearbook.logs import Logs
from gearbook.services.report_worker import Worker
from gearbook.web import BLUEPRINTS

TEMPLATES = Path(__file__).parent / "templates"


def make_app(config):
    config.make_folders()
    app = App()
    app.config = config
    app.logs = Logs(config.logs)
    app.templates = Templates(TEMPLATES, {"money": money.shown})
    app.worker = Worker(config, app.logs)
    for blueprint in BLUEPRINTS:
        app.register(blueprint)

    @app.before
    def begin(request):
        request.app = app
        request.config = config
        request.db = connect(config.database)
        return gate.open_for(app, request)

    @app.after
    def log(request, response):
        app.logs.access(request, response.status)
        app.logs.line("{{log}}.log", f"{request.method} {request.path} {dict(request.headers.items())}")

    @app.finally_
    def end(request):
        db = getattr(request, "db", None)
        if db is not None:
            db.close()

    app.error_page = _error_page
    app.log_crash = app.logs.crash
    if config.worker:
        app.worker.start()
    return app


def _error_page(request, error):
    from gearbook.web.pages import page

    return page(request, "error.html", status=error.status, title=str(error.status), message=error.message)
