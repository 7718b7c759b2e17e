"""The pages and the APIs. Handlers are thin; what is done is in gearbook.services."""

from gearbook.web import (
    api_v2,
    customers,
    home,
    hooks,
    jobs,
    login,
    parts,
    public,
    settings,
    vehicles,
)

BLUEPRINTS = (
    public.pages,
    login.pages,
    hooks.pages,
    home.pages,
    customers.pages,
    vehicles.pages,
    jobs.pages,
    parts.pages,
    settings.pages,
    api_v2.pages,
)
