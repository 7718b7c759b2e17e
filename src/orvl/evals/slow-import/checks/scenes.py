"""What happens in a night: lines of all kinds, about sales that are known, new, late, or yet to come."""


def history(books, count, ahead=(-1, 0, 1)):
    """Sales of the last months. Some have no number, and some share theirs with another one; some are cancelled."""
    world, random = books.world, books.world.random
    for _ in range(count):
        line = world.sale(sold=world.moment(28, random.choice(ahead)))
        sale = books.add(line)
        sale.revision = random.choice((0, 0, 0, 1, 4))
        sale.line = line
        if random.random() < 0.1:
            sale.state = "cancelled"
        if random.random() < 0.1:
            books.add(world.sale(number=line.number))
    for _ in range(count // 10):
        books.add(world.sale(sold=world.moment(28, random.choice(ahead))), number="")


def wait(books, count, name="kiosk-0101.dat"):
    """Corrections and cancellations in the database whose sales come later; gives those sales."""
    world, random = books.world, books.world.random
    sales = [world.sale() for _ in range(count)]
    for at, sale in enumerate(random.choices(sales, k=count), 1):
        line = world.cancellation(sale) if random.random() < 0.3 else world.correction(sale)
        line.at, line.raw = at, f"{line.kind}{line.number} {world.word()}"
        books.waiting.setdefault(sale.number, []).append((line, name))
    return sales


def night(books, form, count, known=(), broken=0.15):
    """Lines of a file. `known` are sales of before that may be repeated, corrected or cancelled."""
    world, random = books.world, books.world.random
    known = [*known, *(one.line for one in books.sales[-200:] if hasattr(one, "line"))]
    lines, to_come = [], []
    while len(lines) < count:
        what = random.random()
        if what < broken:
            lines.append(world.broken(form))
        elif what < 0.55 or not known:
            known.append(world.sale(sold=world.moment(28, random.choice((0, 0, 0, 0, 1)))))
            lines.append(known[-1])
        elif what < 0.62:
            lines.append(random.choice(known).but(kind="S"))
        elif what < 0.66:
            lines.append(random.choice(known).but(kind="S", count=random.randint(1, 14), note=world.note()))
        elif what < 0.80:
            lines.append(world.correction(random.choice(known)))
        elif what < 0.84:
            lines.append(random.choice(lines or known).but())
        elif what < 0.91:
            lines.append(world.cancellation(random.choice(known)))
        else:
            sale = world.sale()
            first = random.choice(
                (
                    [world.correction(sale)],
                    [world.cancellation(sale)],
                    [world.correction(sale), world.correction(sale)],
                    [world.cancellation(sale), world.correction(sale)],
                    [sale.but(kind="C"), world.cancellation(sale), world.cancellation(sale)],
                )
            )
            lines += first
            to_come.append(sale)
        if to_come and random.random() < 0.25:
            lines.append(to_come.pop(0))
            known.append(lines[-1])
    books.to_come = [*getattr(books, "to_come", []), *to_come]
    if books.to_come and random.random() < 0.5:
        lines.append(books.to_come.pop(0))
    return lines
