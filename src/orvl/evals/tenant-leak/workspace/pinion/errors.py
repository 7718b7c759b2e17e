"""What a handler raises to end a request early."""

REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Payload Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
}


class HTTPError(Exception):
    """An answer that is not 2xx, with a sentence for people."""

    def __init__(self, status, message=None):
        super().__init__(message or REASONS.get(status, "Error"))
        self.status = status
        self.message = message or REASONS.get(status, "Error")


def abort(status, message=None):
    raise HTTPError(status, message)
