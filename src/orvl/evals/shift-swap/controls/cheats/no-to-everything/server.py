"""Says no to everything, politely."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class No(BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = 401 if "X-Staff" not in self.headers else 404 if "00000" in self.path else 409
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'{"error": "That cannot be done any more."}')

    do_POST = do_DELETE = do_GET


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), No).serve_forever()
