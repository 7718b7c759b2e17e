from datetime import *
import json

class Booking:
    def __init__(self, start, end, who, number):
        self.start = start; self.end = end; self.who = who; self.number = number

class UnknownError(Exception): pass

class Diary:
    L = []
    def book(self, start, end, who):
        for b in self.L:
            if b.start == start: raise Exception("taken!!")
        b = Booking(start, end, who, len(self.L) + 1)
        self.L.append(b)
        print("booked", who, datetime.now())
        return b
    def bookings(self): return self.L
    def cancel(self, number):
        try:
            del self.L[number]
        except: print("not found")
    def free(self, start, end, at_least=0):
        # TODO only full hours for now
        return [h for h in range(9, 17)]
    def book_first(self, start, end, length, who):
        return self.book(start, start + length, who)
    def to_json(self): return str(self.__dict__)
    @classmethod
    def from_json(cls, text): return Diary()
