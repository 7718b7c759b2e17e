"""What runs beside an app in its sandbox: it starts the app, drives Chromium, and tells on its standard output.

It is copied into the sandbox and imports nothing of orvl. Each line that it prints is a finding in JSON, so that what
was found is kept whatever ends it.
"""
