"""Why something is not done."""


class Refused(Exception):
    """A request that is turned down, with the status and the sentence that the phone gets."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
