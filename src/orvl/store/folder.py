"""Bytes by their content hash, compressed, one file each; written once and never changed."""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from orvl.errors import StoreError, disk_sentence
from orvl.store.beneath import open_file
from orvl.store.protocol import MOST_IN_MEMORY
from orvl.store.tree import CHUNK, HASH, chunks, hash_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SMALL = 4 << 20
SYNC_ALL_AFTER = 64
FOLDER, FILE = re.compile("[0-9a-f]{2}"), re.compile(r"[0-9a-f]+(?:\.[0-9a-f]+\.part|\.zst)")
"""The names of what a store of blobs holds: blobs, and those that were half written. Nothing else is ever deleted."""


class FolderBlobs:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: set[str] = set()

    def path(self, key: str) -> Path:
        """Where a blob lies. A key is what a store says, and a store may come from somebody else."""
        if not HASH.fullmatch(key):
            raise StoreError(f"'{key[:20]}' is not the name of a blob: the store {self.folder} is damaged.")
        return self.folder / key[:2] / f"{key[2:]}.zst"

    def has(self, key: str, size: int | None = None) -> bool:
        """Whether a blob is stored and whole; a damaged one is written again."""
        if key not in self.known and self.path(key).exists() and self.verify(key, size):
            self.known.add(key)
        return key in self.known

    def batch(self) -> FolderBatch:
        return FolderBatch(self)

    def get(self, key: str, most: int = MOST_IN_MEMORY) -> bytes:
        # Joining pieces would hold all of it twice.
        data = io.BytesIO()
        data.writelines(self.stream(key, min(most, MOST_IN_MEMORY)))
        return data.getvalue()

    def stream(self, key: str, most: int | None = None) -> Iterator[bytes]:
        hasher, size = hashlib.sha256(), 0
        try:
            with open(self.path(key), "rb", opener=_open_file) as file:
                for chunk in zstandard.ZstdDecompressor().read_to_iter(file, write_size=CHUNK):
                    hasher.update(chunk)
                    size += len(chunk)
                    if most is not None and size > most:
                        raise StoreError(
                            f"The blob {key[:12]} in {self.folder} unpacks to more than the {most} bytes that it may "
                            "have; it was not unpacked further."
                        )
                    yield chunk
        except (OSError, zstandard.ZstdError) as error:
            raise self._damaged(key) from error
        if hasher.hexdigest() != key:
            raise self._damaged(key)

    def _damaged(self, key: str) -> StoreError:
        return StoreError(f"The blob {key[:12]} is missing or damaged in {self.folder}. See: orvl doctor")

    def write_to(self, key: str, fd: int, most: int | None = None) -> None:
        for chunk in self.stream(key, most):
            while chunk:
                chunk = chunk[os.write(fd, chunk) :]

    def verify(self, key: str, most: int | None = None) -> bool:
        try:
            for _ in self.stream(key, most):
                pass
        except StoreError:
            return False
        return True

    def unreferenced(self, referenced: Collection[str]) -> Iterator[tuple[str, int]]:
        """(name, bytes) of blobs that nothing refers to, and of half-written files."""
        for folder in _entries(self.folder):
            if not folder.is_dir(follow_symlinks=False) or not FOLDER.fullmatch(folder.name):
                continue
            for file in _entries(folder.path):
                if file.is_dir(follow_symlinks=False) or not FILE.fullmatch(file.name):
                    continue
                if not (file.name.endswith(".zst") and folder.name + file.name.removesuffix(".zst") in referenced):
                    yield f"{folder.name}/{file.name}", file.stat(follow_symlinks=False).st_size

    def delete(self, name: str) -> None:
        self.known.clear()
        try:
            (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"Cannot delete from the store: {disk_sentence(error)}.") from error


class FolderBatch:
    """A blob gets its name only when its bytes are on the disk: whatever has a name is whole."""

    def __init__(self, blobs: FolderBlobs) -> None:
        self.blobs = blobs
        self._partial: dict[str, Path] = {}

    def __enter__(self) -> FolderBatch:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.sync()
        else:
            self.drop()

    def put(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        if not self._has(key, len(data)):
            self._write(key, (zstandard.compress(data, 3),))
        return key

    def put_fd(self, fd: int, size: int) -> str:
        """An open file's content; read twice when it is large, so that memory stays small."""
        if size <= SMALL:
            return self.put(b"".join(chunks(fd)))
        key = hash_of(fd)
        if not self._has(key, os.lseek(fd, 0, os.SEEK_CUR)):
            os.lseek(fd, 0, os.SEEK_SET)
            compressor = zstandard.ZstdCompressor(level=3).compressobj()
            self._write(key, _compressed(compressor, chunks(fd)))
        return key

    def put_file(self, path: Path) -> str:
        with open(path, "rb", buffering=0, opener=_open_file) as file:
            return self.put_fd(file.fileno(), os.fstat(file.fileno()).st_size)

    def _has(self, key: str, size: int) -> bool:
        return key in self._partial or self.blobs.has(key, size)

    def _write(self, key: str, data: Iterable[bytes]) -> None:
        partial = self.blobs.path(key).with_suffix(f".{secrets.token_hex(4)}.part")
        partial.parent.mkdir(parents=True, exist_ok=True)
        if partial.parent.is_symlink():
            raise StoreError(f"{partial.parent} is a link, which a store may not have.")
        self._partial[key] = partial
        with open(partial, "xb") as file:
            file.writelines(data)

    def sync(self) -> None:
        """What was put survives a power cut from here on."""
        partial, self._partial = self._partial, {}
        if len(partial) > SYNC_ALL_AFTER:
            os.sync()
        else:
            _sync(partial.values())
        for key, path in partial.items():
            path.rename(self.blobs.path(key))
        _sync({path.parent for path in partial.values()} | ({self.blobs.folder} if partial else set()))
        self.blobs.known.update(partial)

    def drop(self) -> None:
        """Forgets what was put and not synced."""
        for path in self._partial.values():
            path.unlink(missing_ok=True)
        self._partial.clear()


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []


def _open_file(path: str, flags: int) -> int:
    return open_file(path, flags | os.O_NOFOLLOW)


def _sync(paths: Iterable[Path]) -> None:
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _compressed(compressor: zstandard.ZstdCompressionObj, data: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in data:
        yield compressor.compress(chunk)
    yield compressor.flush()
