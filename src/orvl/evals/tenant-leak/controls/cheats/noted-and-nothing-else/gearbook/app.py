"""Puts the application together: `make_app(config)`."""

from pathlib import Path

from pinion import App
from pinion.templates import Templates

from gearbook import audit, gate, money
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
        if gate.is_support(request) and request.workshop_id:
            audit.note(request.db, request.workshop_id, request.user["email"], "support.view", "/")
            response.status = 403

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
