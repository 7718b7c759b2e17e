import unittest
from datetime import datetime, timedelta

import rooms


class CancelAndFree(unittest.TestCase):
    def setUp(self):
        self.hours = [datetime(2032, 1, 5, hour) for hour in range(24)]
        self.diary = rooms.Diary()
        for who, start, end in (("Ann", 8, 10), ("Bob", 12, 13)):
            self.diary.book(self.hours[start], self.hours[end], who)

    def test_a_cancelled_time_can_be_booked_and_gets_a_new_number(self):
        self.assertEqual(self.diary.cancel(1).who, "Ann")
        self.assertEqual([one.who for one in self.diary.bookings()], ["Bob"])
        self.assertEqual(self.diary.book(self.hours[9], self.hours[11], "Cid").number, 3)

    def test_numbers_are_not_used_again(self):
        self.diary.cancel(2)
        self.assertEqual(self.diary.book(self.hours[20], self.hours[21], "Dan").number, 3)

    def test_an_unknown_number(self):
        self.assertRaises(rooms.UnknownError, self.diary.cancel, 7)

    def test_what_is_free(self):
        h = self.hours
        self.assertEqual(self.diary.free(h[9], h[15]), [(h[10], h[12]), (h[13], h[15])])
        self.assertEqual(self.diary.free(h[7], h[13], timedelta(hours=2)), [(h[10], h[12])])
        self.assertRaises(rooms.TimesError, self.diary.free, h[5], h[5])
