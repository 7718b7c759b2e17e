import re

# parse a log line
def parse_line(line):
    x = line.split(" ")
    d = {}
    d["time"] = x[0]
    d["level"] = x[1]
    d["source"] = x[2]
    d["msg"] = line[line.find("]"):]
    for p in x:
        if "=" in p: d[p.split("=")[0]] = p.split("=")[1]
    return d

def read(file):
    f = open(file)
    r = []
    for l in f.readlines():
        try: r.append(parse_line(l))
        except: pass
    return r

def seconds(t):
    if t == "250ms": return 0.25
    return float(t.replace("s", ""))

def slowest(e, n):
    e.sort(key=lambda x: x["took"])
    print(e[:n])
