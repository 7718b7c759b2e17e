import unittest
from datetime import datetime, timedelta

import rooms

NINE = datetime(2032, 1, 5, 9)
HOUR = timedelta(hours=1)


class First(unittest.TestCase):
    def test_takes_the_first_time_that_is_long_enough(self):
        diary = rooms.Diary()
        diary.book(NINE + HOUR, NINE + 2 * HOUR, "Ann")
        self.assertEqual(diary.book_first(NINE, NINE + 9 * HOUR, HOUR, "Bob").start, NINE)
        self.assertEqual(
            diary.book_first(NINE, NINE + 9 * HOUR, 2 * HOUR, "Cid").start, NINE + 2 * HOUR
        )
        self.assertRaises(rooms.TakenError, diary.book_first, NINE, NINE + 4 * HOUR, HOUR, "Dan")
        self.assertRaises(
            rooms.TimesError, diary.book_first, NINE, NINE + 4 * HOUR, 0 * HOUR, "Dan"
        )


class Saved(unittest.TestCase):
    def test_comes_back_as_it_was(self):
        diary = rooms.Diary()
        for number in range(3):
            diary.book(NINE + number * HOUR, NINE + (number + 1) * HOUR, f"No. {number}")
        diary.cancel(3)
        again = rooms.Diary.from_json(diary.to_json())
        self.assertEqual(again.bookings(), diary.bookings())
        self.assertEqual(again.book(NINE - HOUR, NINE, "Eve").number, 4)

    def test_other_texts_are_refused(self):
        for text in ("no JSON", "{}", "[]", '{"last": 0, "bookings": [{}]}'):
            with self.subTest(text):
                self.assertRaises(rooms.DamagedError, rooms.Diary.from_json, text)
