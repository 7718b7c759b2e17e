"""The server: wsgiref's, with a thread for each request, and quiet."""

import signal
import socket
import sys
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64

    def server_bind(self):
        # WSGIServer asks the name service for a host name, which may take seconds.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]
        self.setup_environ()

    def handle_error(self, request, client_address):
        kind = sys.exc_info()[0]
        if kind not in (BrokenPipeError, ConnectionResetError, TimeoutError):
            super().handle_error(request, client_address)


class Handler(WSGIRequestHandler):
    timeout = 30

    def log_message(self, format, *args):
        """The application has a log of its own."""

    def get_environ(self):
        environ = super().get_environ()
        environ["REMOTE_ADDR"] = self.client_address[0]
        return environ


def serve(app, port, host="127.0.0.1", ready=None):
    """Serves until SIGTERM or Ctrl-C."""
    server = Server((host, port), Handler)
    server.set_app(app)

    def end(signum, frame):
        threading.Thread(target=server.shutdown, daemon=True).start()

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
    if ready:
        ready(server.server_address[1])
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
