class TallyError(Exception):
    """Something the person at the keyboard can mend. `status` is what the command ends with."""

    status = 2


class Incomplete(TallyError):
    """The file has no proper end yet: it is still being uploaded, or was cut off."""

    status = 3


class Problem(Exception):
    """Why a line cannot be used; one word that goes into the rejects."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason
