import unittest
from datetime import UTC, datetime, timedelta

from rooms import DamagedError, Diary, TakenError, TimesError, UnknownError


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

    def test_the_first_one(self):
        early = self.diary.book_first(at(7), at(18), timedelta(minutes=30), "Eve")
        self.assertEqual(early.start, at(7))
        booking = self.diary.book_first(at(9), at(18), timedelta(minutes=30), "Cid")
        self.assertEqual((booking.start, booking.end), (at(12), at(12, 30)))
        with self.assertRaises(TakenError):
            self.diary.book_first(at(9), at(12), timedelta(minutes=30), "Dan")
        with self.assertRaises(TimesError):
            self.diary.book_first(at(9), at(18), timedelta(0), "Dan")


class JsonTest(unittest.TestCase):
    def test_there_and_back(self):
        diary = Diary()
        diary.book(datetime(2031, 5, 2, 9, tzinfo=UTC), datetime(2031, 5, 2, 10, tzinfo=UTC), "Ann")
        diary.cancel(1)
        diary.book(datetime(2031, 5, 2, 9, tzinfo=UTC), datetime(2031, 5, 2, 10, tzinfo=UTC), "Bob")
        other = Diary.from_json(diary.to_json())
        self.assertEqual(other.bookings(), diary.bookings())
        self.assertEqual(other.to_json(), diary.to_json())

    def test_damaged(self):
        for text in ("", "[]", "{}", '{"last": 1}'):
            with self.assertRaises(DamagedError):
                Diary.from_json(text)


if __name__ == "__main__":
    unittest.main()
