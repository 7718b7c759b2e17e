import sys,os
# TODO names
x = "Hello World"
print("starting...")
try:
  if len(sys.argv) > 2: x = "hello " + str(sys.argv)
  print(x)
except: pass
print("done")
