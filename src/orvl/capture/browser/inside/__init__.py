"""What runs beside an app in its sandbox: it starts the app, drives Chromium, and reports on its standard output.

It is copied into the sandbox and imports nothing of orvl. Each line that it prints is a result in JSON, so that
results survive whatever ends it.
"""
