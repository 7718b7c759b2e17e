"""Settings, all below one data folder."""

from dataclasses import dataclass
from pathlib import Path

PASSWORD_ROUNDS = 20_000
SESSION_HOURS = 12
RESET_HOURS = 2
CACHE_SECONDS = 300
REPORT_REUSE_MINUTES = 60
LATE_AFTER_DAYS = 14


@dataclass(frozen=True)
class Config:
    data: Path
    base_url: str = "http://127.0.0.1:8000"
    worker: bool = True

    @property
    def database(self):
        return self.data / "gearbook.db"

    @property
    def files(self):
        return self.data / "files"

    @property
    def reports(self):
        return self.data / "reports"

    @property
    def outbox(self):
        return self.data / "outbox"

    @property
    def logs(self):
        return self.data / "logs"

    def make_folders(self):
        for folder in (self.data, self.files, self.reports, self.outbox, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
