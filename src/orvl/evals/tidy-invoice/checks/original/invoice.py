import json
import sys

lines = []
net = 0

f = open(sys.argv[1])
order = json.load(f)

print("INVOICE " + order["number"])
print(order["customer"] + " (" + order["country"] + ")")
print("")


def do_items():
    global net
    for i in order["items"]:
        a = round(i["count"] * i["price"], 2)
        net = net + a
        s = str(i["count"]) + " x " + i["name"]
        lines.append(s.ljust(28) + ("%.2f" % a).rjust(10))


do_items()
for l in lines:
    print(l)
print("-" * 38)
print("Net".ljust(28) + ("%.2f" % net).rjust(10))

discount = 0
if "coupon" in order:
    if order["coupon"] == "TEN":
        discount = round(net * 0.1, 2)
        print("Coupon TEN".ljust(28) + ("%.2f" % -discount).rjust(10))
    if order["coupon"] == "FIVER":
        discount = 5
        print("Coupon FIVER".ljust(28) + ("%.2f" % -discount).rjust(10))

if order["country"] == "DE":
    shipping = 4.9
    if net - discount > 100:
        shipping = 0
    print("Shipping".ljust(28) + ("%.2f" % shipping).rjust(10))
    vat = round((net - discount + shipping) * 0.19, 2)
    print("VAT 19%".ljust(28) + ("%.2f" % vat).rjust(10))
if order["country"] == "FR":
    shipping = 9.9
    if net - discount > 100:
        shipping = 0
    print("Shipping".ljust(28) + ("%.2f" % shipping).rjust(10))
    vat = round((net - discount + shipping) * 0.2, 2)
    print("VAT 20%".ljust(28) + ("%.2f" % vat).rjust(10))
if order["country"] == "CH":
    # never free
    shipping = 19.9
    print("Shipping".ljust(28) + ("%.2f" % shipping).rjust(10))
    vat = round((net - discount + shipping) * 0.081, 2)
    print("VAT 8.1%".ljust(28) + ("%.2f" % vat).rjust(10))

total = net - discount + shipping + vat
print("TOTAL".ljust(28) + ("%.2f" % total).rjust(10))
