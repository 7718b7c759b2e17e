"""Bytes by their content hash, compressed, one file each; written once and never changed."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from orvl.errors import StoreError, disk_sentence
from orvl.store.tree import CHUNK, HASH, chunks, hash_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SMALL = 4 << 20
SYNC_ALL_AFTER = 64


class FolderBlobs:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: set[str] = set()

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.zst"

    def has(self, key: str) -> bool:
        """Whether a blob is stored and whole; a damaged one is written again."""
        if key not in self.known and self.path(key).exists() and self.verify(key):
            self.known.add(key)
        return key in self.known

    def batch(self) -> FolderBatch:
        return FolderBatch(self)

    def get(self, key: str) -> bytes:
        return b"".join(self.stream(key))

    def stream(self, key: str) -> Iterator[bytes]:
        if not HASH.fullmatch(key):
            raise self._damaged(key)
        hasher = hashlib.sha256()
        try:
            with open(self.path(key), "rb", opener=_open_file) as file:
                for chunk in zstandard.ZstdDecompressor().read_to_iter(file, write_size=CHUNK):
                    hasher.update(chunk)
                    yield chunk
        except (OSError, zstandard.ZstdError) as error:
            raise self._damaged(key) from error
        if hasher.hexdigest() != key:
            raise self._damaged(key)

    def _damaged(self, key: str) -> StoreError:
        return StoreError(f"The blob {key[:12]} is missing or damaged in {self.folder}. See: orvl doctor")

    def write_to(self, key: str, fd: int) -> None:
        for chunk in self.stream(key):
            while chunk:
                chunk = chunk[os.write(fd, chunk) :]

    def verify(self, key: str) -> bool:
        try:
            for _ in self.stream(key):
                pass
        except StoreError:
            return False
        return True

    def unreferenced(self, referenced: Collection[str]) -> Iterator[tuple[str, int]]:
        """(name, bytes) of blobs that nothing refers to, and of half-written files."""
        for folder in _entries(self.folder):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for file in _entries(folder.path):
                key = folder.name + file.name.removesuffix(".zst")
                if not file.is_dir(follow_symlinks=False) and not (file.name.endswith(".zst") and key in referenced):
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
        if not self._has(key):
            self._write(key, (zstandard.compress(data, 3),))
        return key

    def put_fd(self, fd: int, size: int) -> str:
        """An open file's content; read twice when it is large, so that memory stays small."""
        if size <= SMALL:
            return self.put(b"".join(chunks(fd)))
        key = hash_of(fd)
        if not self._has(key):
            os.lseek(fd, 0, os.SEEK_SET)
            compressor = zstandard.ZstdCompressor(level=3).compressobj()
            self._write(key, _compressed(compressor, chunks(fd)))
        return key

    def put_file(self, path: Path) -> str:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "it is no longer a regular file", str(path))
            return self.put_fd(fd, os.fstat(fd).st_size)
        finally:
            os.close(fd)

    def _has(self, key: str) -> bool:
        return key in self._partial or self.blobs.has(key)

    def _write(self, key: str, data: Iterable[bytes]) -> None:
        partial = self.blobs.path(key).with_suffix(f".{secrets.token_hex(4)}.part")
        partial.parent.mkdir(parents=True, exist_ok=True)
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
    """A regular file, without following a link or waiting for a pipe."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return fd


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
