"""Pinion, our small web framework. It began as three files of the old shop and knows only what we need.

See docs/pinion.md. Nothing in here knows about workshops, users or jobs.
"""

from pinion.app import App, Blueprint
from pinion.errors import HTTPError, abort
from pinion.request import Request
from pinion.response import Response, json_response, redirect, text_response

__all__ = [
    "App",
    "Blueprint",
    "HTTPError",
    "Request",
    "Response",
    "abort",
    "json_response",
    "redirect",
    "text_response",
]
