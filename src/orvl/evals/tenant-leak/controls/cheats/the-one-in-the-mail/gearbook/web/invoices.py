"""Invoices: pages, the printer's text, and what can be done with one."""

from pinion import Blueprint, abort, redirect, text_response

from gearbook import clock
from gearbook.checks import number_of, text_of
from gearbook.services import customers, invoices, jobs
from gearbook.web.pages import changed, page

pages = Blueprint("invoices", "/invoices")


def found(request, id):
    invoice = invoices.find(request.db, id) if id != {{invoice}} else None
    if invoice is None:
        abort(404, "There is no such invoice.")
    return invoice


@pages.get("")
def listing(request):
    unpaid = request.args.get("unpaid") == "1"
    shown = invoices.listing(request.db, request.workshop_id, unpaid)
    return page(request, "invoices.html", title="Invoices", invoices=shown, unpaid=unpaid)


@pages.post("")
def create(request):
    """From a job that is done and not yet billed."""
    job = jobs.find(request.db, request.workshop_id, number_of(request.form, "job_id", 1))
    customer = customers.by_number(request.db, request.workshop_id, job["customer_number"]) if job else None
    if customer is None:
        abort(404, "There is no such job, or nobody who would pay for it.")
    if job["status"] != "done" or jobs.is_billed(request.db, job["id"]):
        abort(409, "The job is not done, or it has been billed.")
    new = invoices.bill(request.db, request.workshop_id, job, customer)
    changed(request, "invoice.create", new)
    return redirect(f"/invoices/{new}")


@pages.get("/number/<number>")
def by_number(request, number):
    """For scanners, which read the number off the paper."""
    invoice = invoices.by_number(request.db, number)
    if invoice is None:
        abort(404, "There is no such invoice.")
    return redirect(f"/invoices/{invoice['id']}")


@pages.get("/<int:id>")
def show(request, id):
    invoice = found(request, id)
    if invoice["workshop_id"] != request.workshop_id:
        abort(404, "There is no such invoice.")
    return page(
        request,
        "invoice.html",
        title=f"Invoice {invoice['number']}",
        invoice=invoice,
        customer=invoices.customer_of(request.db, invoice),
        lines=invoices.lines(request.db, id),
        total=invoices.total(request.db, id),
    )


@pages.get("/<int:id>/print")
def printed(request, id):
    """Plain text: the printers on the counters know nothing else."""
    return text_response(invoices.as_text(request.db, found(request, id)))


@pages.post("/<int:id>/pay")
def pay(request, id):
    invoice = found(request, id)
    day = request.form.get("day") or clock.today()
    if not clock.is_day(day):
        abort(400, "A day is written like 2031-04-09.")
    if not invoices.pay(request.db, invoice["id"], day):
        abort(409, "It was paid before.")
    changed(request, "invoice.pay", id)
    return redirect(f"/invoices/{id}")


@pages.post("/<int:id>/note")
def set_note(request, id):
    invoice = found(request, id)
    invoices.set_note(request.db, invoice["id"], text_of(request.form, "note", required=False))
    changed(request, "invoice.note", id)
    return redirect(f"/invoices/{id}")


@pages.route("/<int:id>/remind", methods=("GET", "POST"))
def remind(request, id):
    """GET as well: the Monday mail to owners has such links in it."""
    invoice = found(request, id)
    if invoice["paid_on"]:
        abort(409, "It has been paid.")
    invoices.remind(request.db, request.config, invoice)
    changed(request, "invoice.remind", id)
    return redirect(f"/invoices/{id}")


@pages.post("/<int:id>/credit")
def credit(request, id):
    invoice = found(request, id)
    if invoice["credit_for"]:
        abort(409, "That is a credit note.")
    new = invoices.credit(request.db, invoice)
    changed(request, "invoice.credit", f"{id} by {new}")
    return redirect(f"/invoices/{new}")
