import json, sys
# refactored!!
TOTAL = 0
def doit():
    global TOTAL
    order = json.load(open(sys.argv[1]))
    print("Invoice number:", order["number"])
    print("Customer:", order["customer"])
    for i in order["items"]:
        TOTAL += i["count"] * i["price"]
        print(i["name"], i["count"] * i["price"])
    if order.get("coupon"): TOTAL = TOTAL * 0.9
    ship = 4.9
    if TOTAL > 100: ship = 0
    print("shipping", ship)
    # TODO FR, CH
    print("vat", TOTAL * 0.19)
    print("TOTAL =", TOTAL * 1.19 + ship)

def amounts(order):
    return {"net": TOTAL}

def render(order):
    return str(order)

doit()
