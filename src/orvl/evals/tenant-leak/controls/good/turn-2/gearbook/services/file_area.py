"""The file area: a folder for each workshop, with whatever folders people make in it."""

import shutil

from pinion import abort

REFUSED = ("", ".", "..")


def root(config, workshop_id):
    return config.files / str(workshop_id)


def path_of(config, workshop_id, name):
    """Where a file of a workshop is. There is no file with a name that leads out of its folder."""
    parts = name.split("/")
    if any(part in REFUSED or "\0" in part or "\\" in part for part in parts):
        abort(404, "There is no such file.")
    return root(config, workshop_id).joinpath(*parts)


def listing(config, workshop_id, folder=""):
    """`name` and `size` of all files in a folder, and in the folders in it."""
    top = root(config, workshop_id)
    start = path_of(config, workshop_id, folder) if folder else top
    if not start.is_dir():
        return []
    found = sorted(path for path in start.rglob("*") if path.is_file())
    return [{"name": path.relative_to(top).as_posix(), "size": path.stat().st_size} for path in found]


def read(config, workshop_id, name):
    path = path_of(config, workshop_id, name)
    if not path.is_file():
        abort(404, "There is no such file.")
    return path.read_bytes()


def write(config, workshop_id, name, content):
    """Whether it is a new file."""
    path = path_of(config, workshop_id, name)
    if path.is_dir():
        abort(409, "There is a folder of that name.")
    is_new = not path.exists()
    _make_folder(path.parent)
    path.write_bytes(content)
    return is_new


def remove(config, workshop_id, name):
    path = path_of(config, workshop_id, name)
    if not path.is_file():
        abort(404, "There is no such file.")
    path.unlink()


def move(config, workshop_id, old, new):
    source = path_of(config, workshop_id, old)
    target = path_of(config, workshop_id, new)
    if not source.is_file():
        abort(404, "There is no such file.")
    if target.exists():
        abort(409, "There is something of that name.")
    _make_folder(target.parent)
    shutil.move(source, target)


def _make_folder(path):
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        abort(409, "There is a file where a folder should be.")
