import sys
# sales report
f = open(sys.argv[1]).read().split("\n")
d = {}
for l in f[1:]:
    p = l.split(",")
    try:
        d[p[1]] = d.get(p[1], 0) + float(p[2]) * float(p[3])
    except: pass
print("Sales report")
print("============")
for k in d:
    print(k + ": $" + str(d[k]))
# TODO units, months
print("Total: " + str(sum(d.values())))
