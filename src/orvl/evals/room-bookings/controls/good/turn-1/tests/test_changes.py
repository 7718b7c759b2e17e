import unittest
from datetime import datetime, timedelta

from rooms import Diary, UnknownError


def at(hour, minute=0):
    return datetime(2031, 5, 2, hour, minute)


class CancelTest(unittest.TestCase):
    def test_numbers_are_not_given_twice(self):
        diary = Diary()
        booking = diary.book(at(9), at(10), "Ann")
        self.assertEqual(diary.cancel(1), booking)
        self.assertEqual(diary.book(at(9), at(10), "Bob").number, 2)

    def test_unknown_numbers(self):
        with self.assertRaises(UnknownError):
            Diary().cancel(1)


class FreeTest(unittest.TestCase):
    def setUp(self):
        self.diary = Diary()
        self.diary.book(at(9), at(10), "Ann")
        self.diary.book(at(10, 15), at(12), "Bob")

    def test_between_bookings(self):
        wanted = [(at(8), at(9)), (at(10), at(10, 15)), (at(12), at(13))]
        self.assertEqual(self.diary.free(at(8), at(13)), wanted)

    def test_long_enough(self):
        self.assertEqual(self.diary.free(at(9), at(11), timedelta(minutes=16)), [])


if __name__ == "__main__":
    unittest.main()
