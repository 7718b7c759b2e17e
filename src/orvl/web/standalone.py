"""Pictures that stand alone, as a file of their own: SVG with its own style, and the same as PNG."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orvl.capture.browser import find
from orvl.errors import UserError
from orvl.web.html import style_sheet, tag

if TYPE_CHECKING:
    from orvl.web.html import Child

SHARP = 2
"""Pixels of a PNG for each of the picture's own, for screens that have more."""

ENVIRONMENT: dict[str, str | float | bool] = {"TMPDIR": "/tmp", "PATH": os.defpath}
"""Chromium puts a socket into TMPDIR, and ends where that path is long."""


def alone(width: int, height: int, told: str, css: str, parts: Child) -> str:
    """An SVG document; `told` says the same in words."""
    picture = tag(
        "svg",
        style_sheet(css),
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=told,
    )
    return f"{picture}\n"


def as_png(svg: str, width: int, height: int) -> bytes:
    """Drawn by Chromium, without network or scripts."""
    if trouble := find.trouble():
        raise UserError(f"--png needs a browser to draw with. {trouble}")
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=find.chromium(), env=ENVIRONMENT)
            page = browser.new_page(
                viewport={"width": width, "height": height},
                device_scale_factor=SHARP,
                java_script_enabled=False,
                offline=True,
            )
            page.set_content(f"<!doctype html><style>* {{ margin: 0 }}</style>{svg}")
            data = page.screenshot()
            browser.close()
            return data
    except Error as error:
        raise UserError(f"Chromium could not draw --png: {str(error).splitlines()[0]}. See: orvl doctor") from error
