import unittest
from datetime import datetime

from rooms import Diary, TakenError, TimesError


def at(hour, minute=0):
    return datetime(2031, 5, 2, hour, minute)


class BookTest(unittest.TestCase):
    def test_bookings_are_numbered_and_sorted(self):
        diary = Diary()
        diary.book(at(11), at(12), "Ann")
        diary.book(at(9), at(10), "Bob")
        found = [(booking.number, booking.who) for booking in diary.bookings()]
        self.assertEqual(found, [(2, "Bob"), (1, "Ann")])

    def test_the_end_is_free_again(self):
        diary = Diary()
        diary.book(at(9), at(10), "Ann")
        diary.book(at(10), at(11), "Bob")
        self.assertEqual(len(diary.bookings()), 2)

    def test_no_two_overlap(self):
        diary = Diary()
        diary.book(at(9), at(10), "Ann")
        for start, end in (
            (at(9), at(10)),
            (at(9, 59), at(11)),
            (at(8), at(12)),
            (at(9, 15), at(9, 30)),
        ):
            with self.assertRaises(TakenError):
                diary.book(start, end, "Bob")

    def test_the_end_is_after_the_start(self):
        with self.assertRaises(TimesError):
            Diary().book(at(9), at(9), "Ann")

    def test_the_list_is_a_copy(self):
        diary = Diary()
        diary.book(at(9), at(10), "Ann")
        diary.bookings().clear()
        self.assertEqual(len(diary.bookings()), 1)


if __name__ == "__main__":
    unittest.main()
