import sys, json
# todo app v1
L = []
try:
    L = json.load(open("todo.json"))
except: L = []
c = sys.argv[1]
if c == "add":
    L.append(" ".join(sys.argv[2:]))
    print("added!")
if c == "list":
    print("Your todos:")
    for i in range(len(L)):
        print(i, "-", L[i])
if c == "done":
    L.pop(int(sys.argv[2]))   # just delete it
    print("ok")
# elif c == "overdue": ??? later
json.dump(L, open("todo.json", "w"))
