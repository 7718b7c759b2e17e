"""The file area: photos, estimates, scans. Names may have folders in them."""

from pinion import Blueprint, Response, redirect

from gearbook.checks import text_of
from gearbook.services import file_area
from gearbook.web.pages import changed, page

pages = Blueprint("files")


@pages.get("/files")
def overview(request):
    found = file_area.listing(request.config, request.workshop_id)
    return page(request, "files.html", title="Files", files=found)


@pages.get("/files.json")
def listing(request):
    return {"files": file_area.listing(request.config, request.workshop_id, request.args.get("folder", ""))}


@pages.post("/files/move")
def move(request):
    old, new = text_of(request.form, "from"), text_of(request.form, "to")
    file_area.move(request.config, request.workshop_id, old, new)
    changed(request, "file.move", f"{old} to {new}")
    return redirect("/files")


@pages.get("/files/<path:name>")
def download(request, name):
    content = file_area.read(request.config, request.workshop_id, name)
    return Response(content, kind="application/octet-stream")


@pages.put("/files/<path:name>")
def upload(request, name):
    is_new = file_area.write(request.config, request.workshop_id, name, request.body)
    changed(request, "file.write", name)
    return {"name": name, "size": len(request.body)}, 201 if is_new else 200


@pages.delete("/files/<path:name>")
def remove(request, name):
    file_area.remove(request.config, request.workshop_id, name)
    changed(request, "file.remove", name)
    return Response(b"", 204, kind=None)
